import * as z from 'zod';
import { defineFamily } from '../family.js';
import { activation } from '../layers/activation.js';
import { batchNorm, convolution2d, type SquareSize } from '../layers/convolution.js';
import { linear } from '../layers/linear.js';
import { labelScores, imageHeads } from '../bases/vision/image-heads.js';
import type { ImageModel } from '../bases/vision/image-encoder.js';
import { gridOf, imageInput, imageOf, tokensOf } from '../layers/patch-embed.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { epsilon, labelCount, labels, size } from '../config-fields.js';
import { channels, stages } from '../bases/vision/vit-config.js';

const config = z
  .object({
    ...labels,
    num_channels: channels,
    depths: stages.default([3, 3, 6, 4]),
    embed_dims: z.array(size).min(1).max(64).default([48, 56, 112, 220]),
    mlp_ratio: z.number().min(0.01).max(64).default(4),
    downsamples: z.array(z.boolean()).max(64).default([true, true, true, true]),
    hidden_act: z.string().default('gelu'),
    down_patch_size: z.int().min(1).max(64).default(3),
    down_stride: z.int().min(1).max(64).default(2),
    down_pad: z.int().min(0).max(64).default(1),
    use_layer_scale: z.boolean().default(true),
    batch_norm_eps: epsilon.default(1e-5),
  })
  .refine((c) => c.embed_dims.length === c.depths.length && c.downsamples.length >= c.depths.length - 1, {
    ...{ message: 'lists of stages are of another length', path: ['depths'] },
  });
type Config = z.output<typeof config>;

const BASE = 'swiftformer.';
/** The least length that vectors are divided by. */
const LEAST_LENGTH = 1e-12;

interface Part {
  c: Config;
  at: (name: string) => string;
  width: number;
}

const norm = (g: GraphWriter, x: Value, name: string, { c, width }: Omit<Part, 'at'>): Value =>
  batchNorm(g, x, name, { width, epsilon: c.batch_norm_eps });

/** What is found, scaled by a vector of the checkpoint, beside x. */
const added = (g: GraphWriter, x: Value, found: Value, scale: { name: string; width: number }): Value =>
  g.node('Add', [x, g.node('Mul', [g.weight(scale.name, [scale.width, 1, 1]), found])]);

/** Each channel over its neighbourhood, then all channels of each position. */
function near(g: GraphWriter, x: Value, part: Part, inner: number): Value {
  const { at, width } = part;
  const dense = (value: Value, name: string, sizes: Pick<SquareSize, 'from' | 'to'>) =>
    convolution2d(g, value, at(name), { ...sizes, kernel: 1 });
  const apart = { from: width, to: width, kernel: 3, groups: width };
  const read = norm(g, convolution2d(g, x, at('depth_wise_conv'), apart), at('norm'), part);
  const wide = g.node('Gelu', [dense(read, 'point_wise_conv1', { from: width, to: inner })]);
  const narrow = dense(wide, 'point_wise_conv2', { from: inner, to: width });
  return added(g, x, narrow, { name: at('layer_scale'), width });
}

/**
 * Each place with the sum of what all ask for. Python weighs what they ask for by a softmax over one number, which is 1 for all of them.
 */
function asked(g: GraphWriter, x: Value, { at, width }: Part): Value {
  const dense = (value: Value, name: string) =>
    linear(g, value, at(`attn.${name}`), { from: width, to: width });
  const unit = (value: Value) => {
    const length = g.node('ReduceL2', [value, g.ints([-1])], { keepdims: 1 });
    return g.node('Div', [value, g.node('Max', [length, g.scalar(LEAST_LENGTH)])]);
  };
  const tokens = tokensOf(g, x);
  const [query, key] = ['to_query', 'to_key'].map((name) => unit(dense(tokens, name))) as [Value, Value];
  const sum = g.node('ReduceSum', [query, g.ints([1])], { keepdims: 1 });
  const found = g.node('Add', [dense(g.node('Mul', [sum, key]), 'proj'), query]);
  return imageOf(g, dense(found, 'final'), gridOf(g, x));
}

function encoderBlock(g: GraphWriter, x: Value, part: Part): Value {
  const { c, at, width } = part;
  const inner = Math.trunc(width * c.mlp_ratio);
  const local = near(g, x, { ...part, at: (name) => at(`local_representation.${name}`) }, width);
  const beside = (value: Value, found: Value, number: number) =>
    c.use_layer_scale
      ? added(g, value, found, { name: at(`layer_scale_${number}`), width })
      : g.node('Add', [value, found]);
  const middle = beside(local, asked(g, local, part), 1);
  const read = norm(g, middle, at('linear.norm1'), part);
  const wide = convolution2d(g, read, at('linear.fc1'), { from: width, to: inner, kernel: 1 });
  const active = activation(g, wide, c.hidden_act);
  return beside(middle, convolution2d(g, active, at('linear.fc2'), { from: inner, to: width, kernel: 1 }), 2);
}

/** The last block of each stage looks at the whole image. */
function statesOf(g: GraphWriter, c: Config): Value {
  const at = (name: string) => `${BASE}${name}`;
  const first = c.embed_dims[0]!;
  const half = Math.floor(first / 2);
  let x = imageInput(g, c.num_channels);
  for (const [i, from, to] of [
    [0, c.num_channels, half],
    [3, half, first],
  ] as const) {
    const name = at('patch_embed.patch_embedding');
    const found = convolution2d(g, x, `${name}.${i}`, { from, to, kernel: 3, stride: 2 });
    x = g.node('Relu', [norm(g, found, `${name}.${i + 1}`, { c, width: to })]);
  }
  let count = 0;
  const next = () => at(`encoder.network.${count++}`);
  c.depths.forEach((depth, stage) => {
    const [width, to] = [c.embed_dims[stage]!, c.embed_dims[stage + 1]];
    const name = next();
    for (let i = 0; i < depth; i++) {
      const part = { c, width, at: (of: string) => `${name}.blocks.${i}.${of}` };
      x = i === depth - 1 ? encoderBlock(g, x, part) : near(g, x, part, Math.trunc(width * c.mlp_ratio));
    }
    if (to === undefined || !(c.downsamples[stage] || width !== to)) return;
    const down = next();
    const sizes = { kernel: c.down_patch_size, stride: c.down_stride, padding: c.down_pad };
    const smaller = convolution2d(g, x, `${down}.proj`, { from: width, to, ...sizes });
    x = norm(g, smaller, `${down}.norm`, { c, width: to });
  });
  return x;
}

function modelOf(c: Config): ImageModel {
  const own = { width: c.embed_dims.at(-1)!, labels: labelCount(c) };
  return {
    ...{ ...own, shape: ['rows', own.width, 'lines', 'columns'], states: (g) => statesOf(g, c) },
    classify: (g, states) => {
      const normed = norm(g, states, 'norm', { c, width: own.width });
      const mean = g.node('ReduceMean', [normed, g.ints([2, 3])], { keepdims: 0 });
      const both = ['head', 'dist_head'].map((name) => labelScores(g, mean, own, name));
      return g.node('Mul', [g.node('Add', both), g.scalar(0.5)]);
    },
  };
}

/** modeling_swiftformer.py */
export const swiftformer = defineFamily({
  ...{ modelTypes: ['swiftformer'], config, prefixes: [BASE], heads: imageHeads(modelOf) },
});
