import * as z from 'zod';
import { type Family, defineFamily } from '../family.js';
import { activation } from '../layers/activation.js';
import { attention } from '../layers/attention.js';
import { batchNorm, convolution2d, convolve } from '../layers/convolution.js';
import { linear } from '../layers/linear.js';
import { layerNorm } from '../layers/norm.js';
import { labelScores, meanToken } from '../bases/vision/image-heads.js';
import { gridOf, imageInput, imageOf, resize, tokensOf } from '../layers/patch-embed.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { labelCount, labels, size } from '../config-fields.js';
import { channels, stages } from '../bases/vision/vit-config.js';

/** Of configurations of its encoder, which others have, too. */
export const segformerFields = {
  num_channels: channels,
  num_encoder_blocks: z.int().min(1).max(64).default(4),
  depths: stages.default([2, 2, 2, 2]),
  sr_ratios: stages.default([8, 4, 2, 1]),
  hidden_sizes: stages.default([32, 64, 160, 256]),
  patch_sizes: stages.default([7, 3, 3, 3]),
  strides: stages.default([4, 2, 2, 2]),
  num_attention_heads: stages.default([1, 2, 5, 8]),
  mlp_ratios: z.array(z.number().min(0.01).max(64)).max(64).default([4, 4, 4, 4]),
  hidden_act: z.string().default('gelu'),
};
type Encoder = z.output<z.ZodObject<typeof segformerFields>>;

export function sameLengths(c: Encoder, context: z.RefinementCtx): void {
  const lists = [c.depths, c.sr_ratios, c.hidden_sizes, c.patch_sizes, c.strides, c.num_attention_heads];
  if ([...lists, c.mlp_ratios].every(({ length }) => length === c.num_encoder_blocks)) return;
  const message = 'lists of other lengths describe the stages';
  context.addIssue({ code: 'custom', message, path: ['num_encoder_blocks'] });
}

const config = z
  .object({
    ...{ ...labels, ...segformerFields },
    decoder_hidden_size: size.default(256),
    reshape_last_stage: z.literal(true).default(true),
  })
  .superRefine(sameLengths);
type Config = z.output<typeof config>;

const EPSILON = 1e-5;

interface LayerOf {
  at: (name: string) => string;
  /** int64 [2]: tokens of a column and of a line. */
  grid: Value;
  width: number;
  heads: number;
  /** Keys and values are as many times fewer along each edge. */
  ratio: number;
  inner: number;
  act: string;
}

function layer(g: GraphWriter, x: Value, of: LayerOf): Value {
  const { at, width } = of;
  const norm = { width, epsilon: EPSILON };
  const attended = reducedAttention(g, layerNorm(g, x, at('layer_norm_1'), norm), of);
  const middle = g.node('Add', [attended, x]);
  return g.node('Add', [mixed(g, layerNorm(g, middle, at('layer_norm_2'), norm), of), middle]);
}

function reducedAttention(g: GraphWriter, x: Value, { at, grid, width, heads, ratio }: LayerOf): Value {
  const square = { from: width, to: width };
  const read = ratio === 1 ? x : reduced(g, x, { at, grid, width, ratio });
  const project = (from: Value, name: string) => linear(g, from, at(`attention.self.${name}`), square);
  const found = attention(
    g,
    { query: project(x, 'query'), key: project(read, 'key'), value: project(read, 'value') },
    { heads, width },
  );
  return linear(g, found, at('attention.output.dense'), square);
}

function reduced(
  g: GraphWriter,
  x: Value,
  { at, grid, width, ratio }: Pick<LayerOf, 'at' | 'grid' | 'width' | 'ratio'>,
): Value {
  const size = { from: width, to: width, kernel: ratio, stride: ratio, padding: 0 };
  const found = tokensOf(g, convolution2d(g, imageOf(g, x, grid), at('attention.self.sr'), size));
  return layerNorm(g, found, at('attention.self.layer_norm'), { width, epsilon: EPSILON });
}

/** A feed-forward that sees the neighbours of a token. */
function mixed(g: GraphWriter, x: Value, { at, grid, width, inner, act }: LayerOf): Value {
  const wide = linear(g, x, at('mlp.dense1'), { from: width, to: inner });
  const near = convolution2d(g, imageOf(g, wide, grid), at('mlp.dwconv.dwconv'), {
    ...{ from: inner, to: inner, kernel: 3, groups: inner },
  });
  return linear(g, activation(g, tokensOf(g, near), act), at('mlp.dense2'), { from: inner, to: width });
}

/** What each stage gives: float32 [rows, width, lines, columns]. */
export function segformerStages(g: GraphWriter, c: Encoder, base = 'segformer.'): Value[] {
  const found = [imageInput(g, c.num_channels)];
  for (let stage = 0; stage < c.num_encoder_blocks; stage++) {
    const width = c.hidden_sizes[stage]!;
    const at = (name: string) => `${base}encoder.${name}`;
    const cut = convolution2d(g, found.at(-1)!, at(`patch_embeddings.${stage}.proj`), {
      ...{ from: c.hidden_sizes[stage - 1] ?? c.num_channels, to: width },
      ...{ kernel: c.patch_sizes[stage]!, stride: c.strides[stage]! },
    });
    const grid = gridOf(g, cut);
    const norm = { width, epsilon: EPSILON };
    let x = layerNorm(g, tokensOf(g, cut), at(`patch_embeddings.${stage}.layer_norm`), norm);
    for (let i = 0; i < c.depths[stage]!; i++)
      x = layer(g, x, {
        ...{ at: (name) => at(`block.${stage}.${i}.${name}`), grid, width, act: c.hidden_act },
        ...{ heads: c.num_attention_heads[stage]!, ratio: c.sr_ratios[stage]! },
        inner: Math.trunc(width * c.mlp_ratios[stage]!),
      });
    found.push(imageOf(g, layerNorm(g, x, at(`layer_norm.${stage}`), norm), grid));
  }
  return found.slice(1);
}

/** Scores of classes for each pixel of the first stage: float32 [rows, labels, lines, columns]. */
function decode(g: GraphWriter, found: readonly Value[], c: Config): Value {
  const at = (name: string) => `decode_head.${name}`;
  const width = c.decoder_hidden_size;
  const shares = fusingWeights(g, at('linear_fuse.weight'), c);
  // Python enlarges all stages and joins their channels before it fuses them. Fusing mixes channels and enlarging mixes
  // neighbours, so each stage can be fused first: what is enlarged are a stage's sums, and nothing of all stages is held.
  const share = (x: Value, stage: number) => {
    const size = { from: c.hidden_sizes[stage]!, to: width };
    const tokens = linear(g, tokensOf(g, x), at(`linear_c.${stage}.proj`), size);
    return convolve(g, [imageOf(g, tokens, gridOf(g, x)), shares[stage]!], { kernel: [1, 1] });
  };
  // A stage is enlarged to the shape of the sum before it, so that it waits for that sum: two are held, in any order of nodes.
  const fused = found.slice(1).reduce(
    (sum, x, i) => {
      const large = resize(g, share(x, i + 1), g.node('Shape', [sum]), { mode: 'linear' });
      return g.node('Add', [sum, large]);
    },
    share(found[0]!, 0),
  );
  const even = g.node('Relu', [batchNorm(g, fused, at('batch_norm'), { width })]);
  return convolution2d(g, even, at('classifier'), { from: width, to: labelCount(c), kernel: 1 });
}

/** Of each stage, what fuses its channels: float32 [width, width, 1, 1]. The checkpoint has the last stage's first. */
function fusingWeights(g: GraphWriter, name: string, c: Config): Value[] {
  const [width, count] = [c.decoder_hidden_size, c.num_encoder_blocks];
  const all = g.weight(name, [width, width * count, 1, 1]);
  return Array.from({ length: count }, (_, stage) => {
    const from = (count - 1 - stage) * width;
    return g.node('Slice', [all, g.ints([from]), g.ints([from + width]), g.ints([1])]);
  });
}

const heads: Family<Config>['heads'] = {
  'image-segmentation': {
    model: (g, c) => {
      const shape = ['rows', labelCount(c), 'lines', 'columns'];
      g.output('logits', decode(g, segformerStages(g, c), c), 'float32', shape);
    },
  },
  'image-classification': {
    model: (g, c) => {
      const last = meanToken(g, tokensOf(g, segformerStages(g, c).at(-1)!));
      const sizes = { width: c.hidden_sizes.at(-1)!, labels: labelCount(c) };
      g.output('logits', labelScores(g, last, sizes), 'float32', ['rows', sizes.labels]);
    },
  },
};

/** modeling_segformer.py */
export const segformer = defineFamily({
  modelTypes: ['segformer'],
  readers: { processor: 'Segformer' },
  usualTask: 'image-segmentation',
  config,
  prefixes: ['segformer.'],
  heads,
});
