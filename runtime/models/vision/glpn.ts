import * as z from 'zod';
import { type Family, defineFamily } from '../family.js';
import { batchNorm, convolution2d } from '../layers/convolution.js';
import { resize } from '../layers/patch-embed.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { segformerFields, sameLengths, segformerStages } from './segformer.js';
import { size } from '../config-fields.js';

const config = z
  .object({
    ...segformerFields,
    decoder_hidden_size: size.default(64),
    max_depth: z.number().min(0).max(1e6).default(10),
    head_in_index: z.int().min(-64).max(63).default(-1),
  })
  .superRefine(sameLengths)
  .refine((c) => c.head_in_index >= -c.num_encoder_blocks && c.head_in_index < c.num_encoder_blocks, {
    ...{ message: 'there is no such stage', path: ['head_in_index'] },
  });
type Config = z.output<typeof config>;

/** int64 [4] */
const twice = (g: GraphWriter, x: Value): Value =>
  resize(g, x, g.node('Mul', [g.node('Shape', [x]), g.ints([1, 1, 2, 2])]), { mode: 'linear' });

/** Two images of one size, each weighed for every place: float32 [rows, width, lines, columns]. */
function fused(g: GraphWriter, [own, former]: readonly [Value, Value], at: string, width: number): Value {
  const half = Math.floor(width / 2);
  const step = (x: Value, name: string, from: number, to: number) => {
    const names = [`${at}.${name}.0`, `${at}.${name}.1`] as const;
    const found = convolution2d(g, x, names[0], { from, to, kernel: 3 });
    return g.node('Relu', [batchNorm(g, found, names[1], { width: to })]);
  };
  const both = g.node('Concat', [own, former], { axis: 1 });
  const narrow = step(
    step(both, 'convolutional_layer1', 2 * width, width),
    'convolutional_layer2',
    width,
    half,
  );
  const size = { from: half, to: 2, kernel: 3 };
  const shares = g.node('Sigmoid', [convolution2d(g, narrow, `${at}.convolutional_layer3`, size)]);
  const [first, second] = g.nodes('Split', [shares, g.ints([1, 1])], {
    ...{ outputs: 2, attributes: { axis: 1 } },
  }) as [Value, Value];
  return g.node('Add', [g.node('Mul', [own, first]), g.node('Mul', [former, second])]);
}

/** What each step from the coarsest stage on gives, each twice as large: float32 [rows, width, lines, columns]. */
function decode(g: GraphWriter, stages: readonly Value[], c: Config): Value[] {
  const to = c.decoder_hidden_size;
  const found: Value[] = [];
  stages.toReversed().forEach((x, i) => {
    const at = `decoder.stages.${i}`;
    const from = c.hidden_sizes.at(-1 - i)!;
    const own = from === to ? x : convolution2d(g, x, `${at}.convolution`, { from, to, kernel: 1 });
    const former = found.at(-1);
    found.push(twice(g, former ? fused(g, [own, former], `${at}.fusion`, to) : own));
  });
  return [...found.slice(0, -1), twice(g, found.at(-1)!)];
}

const heads: Family<Config>['heads'] = {
  'depth-estimation': {
    model: (g, c) => {
      const width = c.decoder_hidden_size;
      const read = decode(g, segformerStages(g, c, 'glpn.'), c).at(c.head_in_index)!;
      const near = g.node('Relu', [
        convolution2d(g, read, 'head.head.0', { from: width, to: width, kernel: 3 }),
      ]);
      const depths = g.node('Sigmoid', [
        convolution2d(g, near, 'head.head.2', { from: width, to: 1, kernel: 3 }),
      ]);
      const scaled = g.node('Mul', [g.node('Squeeze', [depths, g.ints([1])]), g.scalar(c.max_depth)]);
      g.output('predicted_depth', scaled, 'float32', ['rows', 'lines', 'columns']);
    },
  },
};

/** SegFormer's encoder, whose stages are joined from coarse to fine. modeling_glpn.py */
export const glpn = defineFamily({
  ...{ modelTypes: ['glpn'], readers: { processor: 'GLPN' }, config, prefixes: ['glpn.'], heads },
  memory: { decodesPixels: true },
});
