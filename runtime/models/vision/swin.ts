import * as z from 'zod';
import { defineFamily } from '../family.js';
import { activation } from '../layers/activation.js';
import { attention } from '../layers/attention.js';
import { gridDistances } from '../layers/relative-position-index.js';
import { linear } from '../layers/linear.js';
import { layerNorm } from '../layers/norm.js';
import { labelScores, meanToken, imageHeads } from '../bases/vision/image-heads.js';
import type { ImageModel } from '../bases/vision/image-encoder.js';
import { patches, imageInput } from '../layers/patch-embed.js';
import { bucketBias } from '../layers/t5-relative-bias.js';
import { paddedImage } from '../layers/window-partition.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { epsilon, labelCount, labels, size } from '../config-fields.js';
import { channels, edges, stages } from '../bases/vision/vit-config.js';
import { fourTogether, halved, ofAllRows, throughWindows } from '../bases/vision/shifted-windows.js';

/** Of configurations of both Swins. */
export const swinFields = {
  ...labels,
  num_channels: channels,
  patch_size: edges.default([4, 4]),
  embed_dim: size.default(96),
  depths: stages.default([2, 2, 6, 2]),
  num_heads: stages.default([3, 6, 12, 24]),
  window_size: z.int().min(1).max(256).default(7),
  mlp_ratio: z.number().min(0.01).max(64).default(4),
  qkv_bias: z.boolean().default(true),
  hidden_act: z.string().default('gelu'),
  use_absolute_embeddings: z.literal(false).default(false),
  layer_norm_eps: epsilon.default(1e-5),
};

/** Each stage has its number of heads, and no width is beyond all bounds. */
export function sameStages(
  c: { depths: readonly number[]; num_heads: readonly number[] },
  context: z.RefinementCtx,
): void {
  if (c.depths.length === c.num_heads.length && c.depths.length <= 12) return;
  context.addIssue({ code: 'custom', message: 'num_heads has another length', path: ['depths'] });
}

const config = z.object(swinFields).superRefine(sameStages);
export type SwinConfig = z.output<typeof config>;

/** Of norms without a setting. */
const EPSILON = 1e-5;

interface LayerOf {
  c: SwinConfig;
  at: (name: string) => string;
  /** int64 [2]: tokens of a column and of a line. */
  grid: Value;
  width: number;
  heads: number;
  shifted: boolean;
  /** True where a grid no larger than a window is shifted, too. */
  alwaysShifts: boolean;
}

function layer(g: GraphWriter, x: Value, of: LayerOf): Value {
  const { c, at, width } = of;
  const norm = { width, epsilon: c.layer_norm_eps };
  const attended = windowAttention(g, layerNorm(g, x, at('layernorm_before'), norm), of);
  const middle = g.node('Add', [x, attended]);
  const inner = Math.trunc(c.mlp_ratio * width);
  const read = layerNorm(g, middle, at('layernorm_after'), norm);
  const wide = linear(g, read, at('intermediate.dense'), { from: width, to: inner });
  const narrow = { from: inner, to: width };
  return g.node('Add', [middle, linear(g, activation(g, wide, c.hidden_act), at('output.dense'), narrow)]);
}

/** Attention within windows, which every second layer shifts by half of their edge. */
function windowAttention(g: GraphWriter, x: Value, of: LayerOf): Value {
  const { c, grid, width, shifted, alwaysShifts } = of;
  const shift = shifted ? shiftOf(g, grid, c, alwaysShifts) : undefined;
  return throughWindows(g, x, { grid, width, edge: c.window_size, shift }, (windows, mask) =>
    attended(g, windows, { ...of, mask }),
  );
}

/** A grid no larger than a window is not shifted, but by backbones: int64 [1]. */
function shiftOf(g: GraphWriter, grid: Value, c: SwinConfig, always: boolean): Value {
  if (always) return g.ints([Math.floor(c.window_size / 2)]);
  const least = g.node('ReduceMin', [grid, g.ints([0])], { keepdims: 1 });
  const fits = g.node('LessOrEqual', [least, g.ints([c.window_size])]);
  return g.node('Where', [fits, g.ints([0]), g.ints([Math.floor(c.window_size / 2)])]);
}

/** @param x float32 [rows · windows, tokens, width] */
function attended(
  g: GraphWriter,
  x: Value,
  { c, at, width, heads, mask }: LayerOf & { mask: Value | undefined },
): Value {
  const edge = c.window_size;
  const table = g.weight(at('attention.self.relative_position_bias_table'), [(2 * edge - 1) ** 2, heads]);
  const cells = g.once('swin distances', () => gridDistances(g, [edge, edge]));
  const bias = bucketBias(g, cells, table);
  const project = (name: string) =>
    linear(g, x, at(`attention.self.${name}`), { from: width, to: width, bias: c.qkv_bias });
  const projected = { query: project('query'), key: project('key'), value: project('value') };
  const added = mask === undefined ? bias : ofAllRows(g, g.node('Add', [bias, mask]), x);
  const found = attention(g, projected, { heads, width, bias: added });
  return linear(g, found, at('attention.output.dense'), { from: width, to: width });
}

/** Four neighbours become one token of twice the width. */
function merged(g: GraphWriter, x: Value, grid: Value, { at, width }: Pick<LayerOf, 'at' | 'width'>): Value {
  const four = fourTogether(g, x, grid, width);
  const normed = layerNorm(g, four, at('downsample.norm'), { width: 4 * width, epsilon: EPSILON });
  return linear(g, normed, at('downsample.reduction'), { from: 4 * width, to: 2 * width, bias: false });
}

export interface SwinStage {
  /** float32 [rows, tokens, width] */
  tokens: Value;
  /** int64 [2] */
  grid: Value;
  width: number;
}

/** Where a Swin stands in another network, and what it does there with small grids. */
export interface SwinPlace {
  base: string;
  alwaysShifts: boolean;
}

/** What the first stage reads, and what each gives before four tokens become one, without the norms behind them. */
export function swinStages(
  g: GraphWriter,
  pixels: Value,
  c: SwinConfig,
  { base, alwaysShifts }: SwinPlace,
): SwinStage[] {
  const padded = paddedImage(g, pixels, c.patch_size);
  const found = patches(g, padded, `${base}embeddings.patch_embeddings.projection`, {
    ...{ channels: c.num_channels, width: c.embed_dim, patch: c.patch_size },
  });
  let { grid } = found;
  const norm = { width: c.embed_dim, epsilon: EPSILON };
  let x = layerNorm(g, found.tokens, `${base}embeddings.norm`, norm);
  const stages: SwinStage[] = [{ tokens: x, grid, width: c.embed_dim }];
  c.depths.forEach((depth, stage) => {
    const width = c.embed_dim * 2 ** stage;
    const inStage = (name: string) => `${base}encoder.layers.${stage}.${name}`;
    const common = { c, width, heads: c.num_heads[stage]!, alwaysShifts };
    for (let i = 0; i < depth; i++) {
      const at = (name: string) => inStage(`blocks.${i}.${name}`);
      x = layer(g, x, { ...common, at, grid, shifted: i % 2 === 1 });
    }
    stages.push({ tokens: x, grid, width });
    if (stage === c.depths.length - 1) return;
    x = merged(g, x, grid, { at: inStage, width });
    grid = halved(g, grid);
  });
  return stages;
}

/** All layers, without the norm behind them: float32 [rows, tokens, width of the last stage]. */
const layersOf = (g: GraphWriter, c: SwinConfig): Value =>
  swinStages(g, imageInput(g, c.num_channels), c, { base: 'swin.', alwaysShifts: false }).at(-1)!.tokens;

const widthOf = (c: SwinConfig): number => c.embed_dim * 2 ** (c.depths.length - 1);

function statesOf(g: GraphWriter, c: SwinConfig): Value {
  const norm = { width: widthOf(c), epsilon: c.layer_norm_eps };
  return layerNorm(g, layersOf(g, c), 'swin.layernorm', norm);
}

function modelOf(c: SwinConfig): ImageModel {
  const sizes = { width: widthOf(c), labels: labelCount(c) };
  return {
    ...{ ...sizes, states: (g) => statesOf(g, c), pool: meanToken },
    classify: (g, states) => labelScores(g, meanToken(g, states), sizes),
  };
}

/** modeling_swin.py */
export const swin = defineFamily({
  modelTypes: ['swin'],
  config,
  prefixes: ['swin.'],
  heads: imageHeads(modelOf),
  image: modelOf,
});

/** Donut's, which has no norm behind its layers and is a part of other models only. modeling_donut_swin.py */
export const donutSwin = defineFamily({
  modelTypes: ['donut-swin'],
  config,
  prefixes: ['swin.'],
  heads: {},
  image: (c: SwinConfig) => ({ ...modelOf(c), states: (g) => layersOf(g, c) }),
});
