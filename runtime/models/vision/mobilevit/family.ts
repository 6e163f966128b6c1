import * as z from 'zod';
import { roundHalfEven } from '../../../core/round-half-even.js';
import { type Family, defineFamily } from '../../family.js';
import { adaptivePool } from '../../layers/adaptive-pool.js';
import { convolution2d, normedConvolution, type NormedSize } from '../../layers/convolution.js';
import { layerNorm } from '../../layers/norm.js';
import { labelScores, imageHeads } from '../../bases/vision/image-heads.js';
import type { ImageModel } from '../../bases/vision/image-encoder.js';
import { gridOf, imageInput, resize } from '../../layers/patch-embed.js';
import { preNormLayer } from '../../layers/pre-norm-layer.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import { epsilon, labelCount, labels, size } from '../../config-fields.js';
import { channels } from '../../bases/vision/vit-config.js';
import { throughCells } from './unfolded-patches.js';
import { divisible } from '../../bases/vision/mobilenet-blocks.js';
import { VIT_NAMES } from '../vit.js';

const sizes = (count: number, given: readonly number[]) =>
  z
    .array(size)
    .length(count)
    .default([...given]);

const config = z.object({
  ...labels,
  num_channels: channels,
  patch_size: z.int().min(1).max(256).default(2),
  hidden_sizes: sizes(3, [144, 192, 240]),
  neck_hidden_sizes: sizes(7, [16, 32, 64, 96, 128, 160, 640]),
  num_attention_heads: size.default(4),
  mlp_ratio: z.number().min(0.01).max(64).default(2),
  expand_ratio: z.number().min(0.01).max(64).default(4),
  hidden_act: z.string().default('silu'),
  conv_kernel_size: z.int().min(1).max(63).default(3),
  output_stride: z.int().default(32),
  layer_norm_eps: epsilon.default(1e-5),
  qkv_bias: z.boolean().default(true),
  aspp_out_channels: size.default(256),
  atrous_rates: z.array(z.int().min(1).max(256)).length(3).default([6, 12, 18]),
});
type Config = z.output<typeof config>;

const BASE = 'mobilevit.';

/** A convolution and its norm; the activation that all have if not told. */
function convolved(g: GraphWriter, x: Value, name: string, size: NormedSize): Value {
  const names = { convolution: `${name}.convolution`, norm: `${name}.normalization` };
  return normedConvolution(g, x, names, size);
}

interface ResidualOf {
  c: Config;
  name: string;
  from: number;
  to: number;
  stride: number;
  dilation?: number;
}

/** Wide in the middle, where each channel is read by itself. */
function inverted(g: GraphWriter, x: Value, { c, name, from, to, stride, dilation = 1 }: ResidualOf): Value {
  const wide = divisible(roundHalfEven(from * c.expand_ratio), { divisor: 8, least: 8 });
  const act = c.hidden_act;
  const first = convolved(g, x, `${name}.expand_1x1`, { from, to: wide, kernel: 1, act });
  const apart = { from: wide, to: wide, kernel: 3, groups: wide, stride, dilation, act };
  const second = convolved(g, first, `${name}.conv_3x3`, apart);
  const found = convolved(g, second, `${name}.reduce_1x1`, { from: wide, to, kernel: 1 });
  return stride === 1 && from === to ? g.node('Add', [x, found]) : found;
}

interface LayerOf extends Omit<ResidualOf, 'stride'> {
  width: number;
  depth: number;
  dilation: number;
}

/** Half as large, unless its cells are read apart; then cells at the same place of their patches look at each other. */
function layer(g: GraphWriter, x: Value, { c, name, from, to, width, depth, dilation }: LayerOf): Value {
  const half = { stride: dilation === 1 ? 2 : 1, dilation: dilation > 1 ? Math.floor(dilation / 2) : 1 };
  const kept = inverted(g, x, { c, name: `${name}.downsampling_layer`, from, to, ...half });
  const [act, kernel] = [c.hidden_act, c.conv_kernel_size];
  const near = convolved(g, kept, `${name}.conv_kxk`, { from: to, to, kernel, act });
  const read = convolution2d(g, near, `${name}.conv_1x1.convolution`, {
    ...{ from: to, to: width, kernel: 1, bias: false },
  });
  const seen = throughCells(g, read, { patch: c.patch_size, width }, (cells) => {
    let found = cells;
    for (let i = 0; i < depth; i++)
      found = preNormLayer(g, found, {
        ...{ names: VIT_NAMES, at: (part) => `${name}.transformer.layer.${i}.${part}`, width, act },
        ...{ inner: Math.trunc(width * c.mlp_ratio), heads: c.num_attention_heads },
        biases: { query: c.qkv_bias, key: c.qkv_bias, value: c.qkv_bias },
        epsilon: c.layer_norm_eps,
      });
    return layerNorm(g, found, `${name}.layernorm`, { width, epsilon: c.layer_norm_eps });
  });
  const narrow = convolved(g, seen, `${name}.conv_projection`, { from: width, to, kernel: 1, act });
  const both = g.node('Concat', [kept, narrow], { axis: 1 });
  return convolved(g, both, `${name}.fusion`, { from: 2 * to, to, kernel, act });
}

/** Layers of the three last stages. */
const DEPTHS = [2, 4, 3];

/** What the last stage gives: float32 [rows, width, lines, columns]. */
function encoded(g: GraphWriter, c: Config): Value {
  const [stem, ...widths] = c.neck_hidden_sizes as [number, ...number[]];
  const at = (name: string) => `${BASE}${name}`;
  const pixels = imageInput(g, c.num_channels);
  const size = { from: c.num_channels, to: stem, kernel: 3, stride: 2, act: c.hidden_act };
  let x = convolved(g, pixels, at('conv_stem'), size);
  let from = stem;
  for (const [stage, count] of [1, 3].entries()) {
    const to = widths[stage]!;
    for (let i = 0; i < count; i++) {
      const name = at(`encoder.layer.${stage}.layer.${i}`);
      x = inverted(g, x, { c, name, from, to, stride: stage === 1 && i === 0 ? 2 : 1 });
      from = to;
    }
  }
  let dilation = 1;
  c.hidden_sizes.forEach((width, i) => {
    // Networks that find segments read cells apart in place of making the image smaller.
    if ((i === 1 && c.output_stride === 8) || (i === 2 && (c.output_stride === 8 || c.output_stride === 16)))
      dilation *= 2;
    const to = widths[i + 2]!;
    x = layer(g, x, { c, name: at(`encoder.layer.${i + 2}`), from, to, width, depth: DEPTHS[i]!, dilation });
    from = to;
  });
  return x;
}

function modelOf(c: Config): ImageModel {
  const [from, width] = c.neck_hidden_sizes.slice(-2) as [number, number];
  const mean = (g: GraphWriter, x: Value) => g.node('ReduceMean', [x, g.ints([2, 3])], { keepdims: 0 });
  const own = { width, labels: labelCount(c) };
  return {
    ...{ ...own, pool: mean, shape: ['rows', width, 'lines', 'columns'] },
    states: (g) =>
      convolved(g, encoded(g, c), `${BASE}conv_1x1_exp`, { from, to: width, kernel: 1, act: c.hidden_act }),
    classify: (g, states) => labelScores(g, mean(g, states), own),
  };
}

/** DeepLab's: cells near and far, and all of them, side by side. */
function writeSegmenter(g: GraphWriter, c: Config): void {
  const x = encoded(g, c);
  const [from, to, act] = [c.neck_hidden_sizes.at(-2)!, c.aspp_out_channels, 'relu'];
  const at = (name: string) => `segmentation_head.aspp.${name}`;
  const near = convolved(g, x, at('convs.0'), { from, to, kernel: 1, act });
  const far = c.atrous_rates.map((dilation, i) =>
    convolved(g, x, at(`convs.${i + 1}`), { from, to, kernel: 3, dilation, act }),
  );
  const all = convolved(g, adaptivePool(g, x, 1), at('convs.4.conv_1x1'), { from, to, kernel: 1, act });
  const before = g.node('Shape', [all], { start: 0, end: 2 });
  const shape = g.node('Concat', [before, gridOf(g, x)], { axis: 0 });
  const parts = [near, ...far, resize(g, all, shape, { mode: 'linear' })];
  const together = g.node('Concat', parts, { axis: 1 });
  const read = convolved(g, together, at('project'), { from: 5 * to, to, kernel: 1, act });
  const count = labelCount(c);
  const logits = convolution2d(g, read, 'segmentation_head.classifier.convolution', {
    ...{ from: to, to: count, kernel: 1 },
  });
  g.output('logits', logits, 'float32', ['rows', count, 'lines', 'columns']);
}

const heads: Family<Config>['heads'] = {
  ...imageHeads(modelOf),
  'image-segmentation': { model: writeSegmenter },
};

/** modeling_mobilevit.py */
export const mobilevit = defineFamily({
  ...{ modelTypes: ['mobilevit'], readers: { processor: 'MobileViT' }, config, prefixes: [BASE], heads },
  memory: { convolutional: true },
});
