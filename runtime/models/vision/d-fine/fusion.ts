import { roundHalfEven } from '../../../core/round-half-even.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import type { DFineConfig } from '../rt-detr/config.js';
import { convolved, type Joining, twoWays } from '../rt-detr/hybrid-encoder.js';

/** Of convolutions between those of two ways. */
const ACT = 'silu';

/** One half of an image as it is, the other one and what is made of it, all as one again. */
function fuse(g: GraphWriter, both: Value, at: string, c: DFineConfig): Value {
  const width = c.encoder_hidden_dim;
  const inner = Math.floor((c.hidden_expansion * width) / 2);
  const blocks = roundHalfEven(3 * c.depth_mult);
  const common = { c, act: ACT };
  const read = convolved(g, both, { ...common, at: `${at}.conv1`, from: 2 * width, to: 2 * width });
  const halves = g.nodes('Split', [read, g.ints([width, width])], { outputs: 2, attributes: { axis: 1 } });
  const found = [...halves];
  for (const [i, from] of [width, inner].entries()) {
    const way = { at: `${at}.csp_rep${i + 1}`, from, to: inner, expansion: 1, blocks };
    const size = { from: inner, to: inner, kernel: 3 };
    found.push(
      convolved(g, twoWays(g, found.at(-1)!, c, way), { ...common, ...size, at: `${at}.conv${i + 2}` }),
    );
  }
  const together = g.node('Concat', found, { axis: 1 });
  return convolved(g, together, { ...common, at: `${at}.conv4`, from: 2 * (width + inner), to: width });
}

/** D-FINE's. */
export function dFineJoining(c: DFineConfig): Joining {
  const groups = c.encoder_hidden_dim;
  return {
    act: undefined,
    fuse: (g, both, at) => fuse(g, both, at, c),
    halve: (g, x, at) => {
      const read = convolved(g, x, { c, at: `${at}.conv1` });
      return convolved(g, read, { c, at: `${at}.conv2`, kernel: 3, stride: 2, groups });
    },
  };
}
