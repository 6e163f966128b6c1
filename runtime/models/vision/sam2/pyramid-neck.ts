import { convolution2d } from '../../layers/convolution.js';
import { resize } from '../../layers/patch-embed.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import type { NeckConfig } from './config.js';

export interface Stage {
  /** Written where it is read: float32 [rows, width, lines, columns]. */
  image(): Value;
  width: number;
}

/** Images of one width, the fine ones first; some know of the coarser ones: float32 [rows, width, lines, columns]. */
export function pyramidLevels(g: GraphWriter, stages: readonly Stage[], c: NeckConfig): Value[] {
  const size = { to: c.fpn_hidden_size, kernel: c.fpn_kernel_size, padding: c.fpn_padding };
  const found: Value[] = [];
  stages.toReversed().forEach(({ image, width: from }, i) => {
    const level = stages.length - 1 - i;
    const read = convolution2d(g, image(), `vision_encoder.neck.convs.${i}`, { ...size, from });
    const coarse = found[0];
    if (coarse === undefined || !c.fpn_top_down_levels.includes(level)) return found.unshift(read);
    const twice = g.node('Mul', [g.node('Shape', [coarse]), g.ints([1, 1, 2, 2])]);
    return found.unshift(g.node('Add', [read, resize(g, coarse, twice, { mode: 'nearest' })]));
  });
  return found;
}
