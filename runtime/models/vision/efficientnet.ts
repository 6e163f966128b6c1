import * as z from 'zod';
import { defineFamily } from '../family.js';
import { normedConvolution, type NormedSize } from '../layers/convolution.js';
import { labelScores, imageHeads } from '../bases/vision/image-heads.js';
import type { ImageModel } from '../bases/vision/image-encoder.js';
import { imageInput } from '../layers/patch-embed.js';
import { squeezeExcitation } from '../layers/squeeze-excitation.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { epsilon, labelCount, labels, size } from '../config-fields.js';
import { channels, stages } from '../bases/vision/vit-config.js';

const factor = z.number().min(0.01).max(64);
const each = <T extends z.ZodType>(of: T) => z.array(of).min(1).max(64);
const kernel = z
  .int()
  .min(3)
  .max(63)
  .refine((edge) => edge % 2 === 1, 'kernels of even width are not known');

const config = z
  .object({
    ...labels,
    num_channels: channels,
    width_coefficient: factor.default(2),
    depth_coefficient: factor.default(3.1),
    depth_divisor: size.default(8),
    kernel_sizes: each(kernel).default([3, 3, 5, 3, 5, 5, 3]),
    in_channels: stages.default([32, 16, 24, 40, 80, 112, 192]),
    out_channels: stages.default([16, 24, 40, 80, 112, 192, 320]),
    /** Layers that a stride of two pads at both ends. */
    depthwise_padding: z.array(z.int()).max(4096).default([]),
    strides: each(z.union([z.literal(1), z.literal(2)])).default([1, 2, 2, 2, 1, 2, 1]),
    num_block_repeats: stages.default([1, 2, 2, 3, 3, 4, 1]),
    expand_ratios: each(z.int().min(1).max(64)).default([1, 6, 6, 6, 6, 6, 6]),
    squeeze_expansion_ratio: factor.default(0.25),
    hidden_act: z.string().default('swish'),
    hidden_dim: size.default(2560),
    pooling_type: z.enum(['mean', 'max']).default('mean'),
    batch_norm_eps: epsilon.default(0.001),
  })
  .superRefine((c, context) => {
    for (const name of [
      'out_channels',
      'kernel_sizes',
      'strides',
      'num_block_repeats',
      'expand_ratios',
    ] as const)
      if (c[name].length !== c.in_channels.length)
        context.addIssue({ code: 'custom', message: 'in_channels has another length', path: [name] });
  });
type Config = z.output<typeof config>;

/** The nearest multiple that is no more than a tenth smaller. */
function scaled({ width_coefficient, depth_divisor: divisor }: Config, width: number): number {
  const wanted = width * width_coefficient;
  const nearest = Math.max(divisor, Math.floor(Math.trunc(wanted + divisor / 2) / divisor) * divisor);
  return nearest < 0.9 * wanted ? nearest + divisor : nearest;
}

interface Block {
  from: number;
  to: number;
  expand: number;
  kernel: number;
  stride: 1 | 2;
  /** True where what it reads is added to what it gives. */
  adds: boolean;
  /** True where a stride of two pads one zero more behind than before. */
  uneven: boolean;
}

/** All blocks, in their order. */
function blocksOf(c: Config): Block[] {
  const blocks: Block[] = [];
  c.in_channels.forEach((width, stage) => {
    const to = scaled(c, c.out_channels[stage]!);
    const count = Math.ceil(c.depth_coefficient * c.num_block_repeats[stage]!);
    for (let i = 0; i < count; i++)
      blocks.push({
        ...{ from: i === 0 ? scaled(c, width) : to, to, expand: c.expand_ratios[stage]! },
        ...{ kernel: c.kernel_sizes[stage]!, stride: i === 0 ? c.strides[stage]! : 1 },
        ...{ adds: i > 0, uneven: !c.depthwise_padding.includes(blocks.length) },
      });
  });
  return blocks;
}

/** Widened, each channel by itself, the channels weighed, narrowed again. */
function written(g: GraphWriter, x: Value, c: Config, { at, ...of }: Block & { at: string }): Value {
  const { from, to, kernel: edge, stride } = of;
  const act = c.hidden_act;
  const step = (read: Value, [convolution, norm]: readonly [string, string], one: NormedSize) =>
    normedConvolution(
      ...[g, read],
      { convolution: `${at}.${convolution}`, norm: `${at}.${norm}` },
      { ...one, epsilon: c.batch_norm_eps },
    );
  const wide = from * of.expand;
  const widened =
    of.expand === 1
      ? x
      : step(x, ['expansion.expand_conv', 'expansion.expand_bn'], { from, to: wide, kernel: 1, act });
  const half = Math.floor(edge / 2);
  const seen = step(widened, ['depthwise_conv.depthwise_conv', 'depthwise_conv.depthwise_norm'], {
    ...{ from: wide, to: wide, groups: wide, kernel: edge, stride, act },
    padding: stride === 2 && of.uneven ? [half - 1, half] : half,
  });
  const weighed = squeezeExcitation(g, seen, {
    ...{ narrow: `${at}.squeeze_excite.reduce`, wide: `${at}.squeeze_excite.expand` },
    ...{ width: wide, inner: Math.max(1, Math.trunc(from * c.squeeze_expansion_ratio)), act },
  });
  const names = ['projection.project_conv', 'projection.project_bn'] as const;
  const found = step(weighed, names, { from: wide, to, kernel: 1 });
  return of.adds ? g.node('Add', [found, x]) : found;
}

function statesOf(g: GraphWriter, c: Config): Value {
  const at = (name: string) => `efficientnet.${name}`;
  const common = { act: c.hidden_act, epsilon: c.batch_norm_eps };
  let width = scaled(c, 32);
  let x = normedConvolution(
    ...[g, imageInput(g, c.num_channels)],
    { convolution: at('embeddings.convolution'), norm: at('embeddings.batchnorm') },
    { from: c.num_channels, to: width, kernel: 3, stride: 2, padding: [0, 1], ...common },
  );
  blocksOf(c).forEach((block, i) => {
    x = written(g, x, c, { ...block, from: width, at: at(`encoder.blocks.${i}`) });
    width = block.to;
  });
  const names = { convolution: at('encoder.top_conv'), norm: at('encoder.top_bn') };
  return normedConvolution(g, x, names, { from: width, to: c.hidden_dim, kernel: 1, ...common });
}

function modelOf(c: Config): ImageModel {
  const sizes = { width: c.hidden_dim, labels: labelCount(c) };
  const kind = c.pooling_type === 'mean' ? 'GlobalAveragePool' : 'GlobalMaxPool';
  const pool = (g: GraphWriter, x: Value) => g.node('Flatten', [g.node(kind, [x])]);
  return {
    ...{ ...sizes, states: (g) => statesOf(g, c), pool, shape: ['rows', c.hidden_dim, 'lines', 'columns'] },
    classify: (g, x) => labelScores(g, pool(g, x), sizes),
  };
}

/** modeling_efficientnet.py */
export const efficientnet = defineFamily({
  modelTypes: ['efficientnet'],
  readers: { processor: 'EfficientNet' },
  memory: { convolutional: true },
  config,
  prefixes: ['efficientnet.'],
  heads: imageHeads(modelOf),
});
