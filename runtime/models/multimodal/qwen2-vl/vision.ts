import * as z from 'zod';
import { activation } from '../../layers/activation.js';
import { type Attended, attention } from '../../layers/attention.js';
import { gatedFeedForward } from '../../layers/swiglu.js';
import { headWidth } from '../../layers/head-sizes.js';
import { linear, matMulTransposed } from '../../layers/linear.js';
import { headNorm, layerNorm, rmsNorm } from '../../layers/norm.js';
import { splitRows } from '../../layers/fused-projections.js';
import { rotate, type Rotary } from '../../layers/rope.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import { layers, size } from '../../config-fields.js';
import { channels } from '../../bases/vision/vit-config.js';
import { cellGrid, type CellGrid, inCells, inOrder, patchTurns } from '../patch-cells.js';

export const small = z.int().min(1).max(1024);

const common = {
  depth: layers.default(32),
  num_heads: size.default(16),
  in_channels: channels,
  patch_size: small.default(14),
  spatial_merge_size: small.default(2),
  temporal_patch_size: small.default(2),
};

export const visionConfig = z.object({
  ...common,
  embed_dim: size.default(1280),
  hidden_size: size.default(3584),
  hidden_act: z.string().default('quick_gelu'),
  mlp_ratio: z.number().positive().max(1024).default(4),
});

export const vision25Config = z.object({
  ...common,
  hidden_size: size.default(3584),
  intermediate_size: size.default(3420),
  hidden_act: z.string().default('silu'),
  window_size: size.default(112),
  out_hidden_size: size.default(3584),
  fullatt_block_indexes: z.array(z.int().min(0)).default([7, 15, 23, 31]),
});

/** An encoder of patches, as its family has it. */
export interface VisionModel {
  width: number;
  layers: number;
  heads: number;
  /** Heads of keys and values, several of queries for each; as many as those if absent. */
  keyHeads?: number;
  /** Numbers of a patch, and whether a bias is added to what is made of them. */
  patch: { channels: number; frames: number; edge: number; bias?: boolean };
  /** Edge of a cell in patches, and of a window in cells; undefined where all layers see all of a frame. */
  merge: number;
  window?: number | undefined;
  /** True for a layer that sees all of a frame. */
  seesAll(layer: number): boolean;
  norm(g: GraphWriter, x: Value, name: string): Value;
  /** Names of queries, keys and values that lie apart; one matrix has all of them if absent. */
  apart?: readonly [string, string, string];
  /** Biases of queries, keys and values, and of what follows attention; both if absent. */
  bias?: { projections: boolean; output: boolean };
  /** Of RMSNorms over each head's queries and keys; absent where there are none. */
  headEpsilon?: number | undefined;
  feedForward(g: GraphWriter, x: Value, at: (name: string) => string): Value;
  /** Width of a feature. */
  to: number;
}

const EPSILON = 1e-6;

type Common = z.output<z.ZodObject<typeof common>>;

const sizesOf = (c: Common) => ({
  ...{ layers: c.depth, heads: c.num_heads, merge: c.spatial_merge_size },
  patch: { channels: c.in_channels, frames: c.temporal_patch_size, edge: c.patch_size },
});

export function visionModel(c: z.output<typeof visionConfig>): VisionModel {
  const width = c.embed_dim;
  const inner = Math.trunc(width * c.mlp_ratio);
  return {
    ...{ ...sizesOf(c), width, to: c.hidden_size },
    seesAll: () => true,
    norm: (g, x, name) => layerNorm(g, x, name, { width, epsilon: EPSILON }),
    feedForward(g, x, at) {
      const wide = activation(g, linear(g, x, at('fc1'), { from: width, to: inner }), c.hidden_act);
      return linear(g, wide, at('fc2'), { from: inner, to: width });
    },
  };
}

export function vision25Model(c: z.output<typeof vision25Config>): VisionModel {
  const width = c.hidden_size;
  return {
    ...{ ...sizesOf(c), width, to: c.out_hidden_size },
    window: Math.floor(Math.floor(c.window_size / c.spatial_merge_size) / c.patch_size),
    seesAll: (layer) => c.fullatt_block_indexes.includes(layer),
    norm: (g, x, name) => rmsNorm(g, x, name, { width, epsilon: EPSILON }),
    feedForward: (g, x, at) =>
      gatedFeedForward(g, x, at, { width, inner: c.intermediate_size, act: c.hidden_act, bias: true }),
  };
}

/**
 * `image_features` [features, width] of the patches of one image or clip: `pixel_values` [patches, numbers], a cell's patches one
 * after the other, and `image_grid_thw` [1, 3], steps over time, and lines and columns of patches.
 */
export const writePatchEncoder = (g: GraphWriter, model: VisionModel): void =>
  g.output('image_features', patchFeatures(g, model), 'float32', ['features', model.to]);

/** The same as a value. */
export function patchFeatures(g: GraphWriter, model: VisionModel): Value {
  const { width, merge, to } = model;
  const grid = cellGrid(g, g.input('image_grid_thw', 'int64', [1, 3]), model);
  const turn = patchTurns(g, grid, headWidth(width, model.heads));
  let x = inCells(g, embeddedPatches(g, model), grid, width);
  for (let i = 0; i < model.layers; i++) x = patchLayer(g, x, { model, layer: i, grid, turn });
  const joined = width * merge * merge;
  const normed = model.norm(g, x, 'visual.merger.ln_q');
  const cells = inOrder(g, normed, grid, joined);
  const wide = g.node('Gelu', [linear(g, cells, 'visual.merger.mlp.0', { from: joined, to: joined })]);
  return linear(g, wide, 'visual.merger.mlp.2', { from: joined, to });
}

/** A product of all numbers of a patch: float32 [patches, width]. */
export function embeddedPatches(
  g: GraphWriter,
  { width, patch: { channels, frames, edge, bias = false } }: VisionModel,
): Value {
  const numbers = channels * frames * edge * edge;
  const pixels = g.input('pixel_values', 'float32', ['patches', numbers]);
  const weight = g.weight('visual.patch_embed.proj.weight', [width, channels, frames, edge, edge]);
  const found = matMulTransposed(g, pixels, g.node('Reshape', [weight, g.ints([width, numbers])]));
  return bias ? g.node('Add', [found, g.weight('visual.patch_embed.proj.bias', [width])]) : found;
}

export interface PatchLayer {
  model: VisionModel;
  layer: number;
  grid: CellGrid;
  turn: Rotary;
}

/** @param x float32 [windows, patches, width] */
export function patchLayer(g: GraphWriter, x: Value, { model, layer, grid, turn }: PatchLayer): Value {
  const { width, heads, keyHeads = heads } = model;
  const at = (name: string) => `visual.blocks.${layer}.${name}`;
  const { projections, output } = model.bias ?? { projections: true, output: true };
  const ofHead = { heads, width: headWidth(width, heads) };
  const normed = model.norm(g, x, at('norm1'));
  const sizes = { from: width, keyHeads, ...ofHead, bias: projections };
  const parts = projected(g, normed, { at: (name) => at(`attn.${name}`), apart: model.apart, sizes });
  const ofKeys = { ...ofHead, heads: keyHeads };
  const { headEpsilon: epsilon } = model;
  const headed = (part: Value, name: string, of: typeof ofHead) =>
    epsilon === undefined ? part : headNorm(g, part, at(name), { ...of, epsilon });
  const turned = (part: Value, name: string, of: typeof ofHead) =>
    rotate(g, headed(part, name, of), turn, of);
  const forAll = (part: Value) => repeatedHeads(g, part, ofKeys, heads / keyHeads);
  const seen = {
    query: turned(parts.query, 'attn.q_norm', ofHead),
    key: forAll(turned(parts.key, 'attn.k_norm', ofKeys)),
    value: forAll(parts.value),
  };
  const found = model.seesAll(layer) ? grid.byFrame(seen) : seen;
  const padding = model.seesAll(layer) ? grid.padding?.frames : grid.padding?.windows;
  const attended = grid.byWindow(attention(g, found, { heads, width, padding }));
  const joined = linear(g, attended, at('attn.proj'), { from: width, to: width, bias: output });
  const middle = g.node('Add', [x, joined]);
  const fed = model.feedForward(g, model.norm(g, middle, at('norm2')), (name) => at(`mlp.${name}`));
  return g.node('Add', [middle, fed]);
}

interface Projections {
  at(name: string): string;
  apart: VisionModel['apart'];
  sizes: { from: number; heads: number; keyHeads: number; width: number; bias: boolean };
}

/** Queries, keys and values: float32 [windows, patches, heads · width] each. */
function projected(g: GraphWriter, x: Value, { at, apart, sizes }: Projections): Attended {
  const { from, heads, keyHeads, width, bias } = sizes;
  const to = (heads + 2 * keyHeads) * width;
  if (!apart) return splitRows(g, linear(g, x, at('qkv'), { from, to, bias }), sizes);
  const part = (i: 0 | 1 | 2, count: number) => linear(g, x, at(apart[i]), { from, to: count * width, bias });
  return { query: part(0, heads), key: part(1, keyHeads), value: part(2, keyHeads) };
}

/** Heads that several heads of queries share, once for each of these: float32 [rows, tokens, times · heads · width]. */
export function repeatedHeads(
  g: GraphWriter,
  x: Value,
  { heads, width }: { heads: number; width: number },
  times: number,
): Value {
  if (times === 1) return x;
  const apart = g.node('Reshape', [x, g.ints([0, 0, heads, 1, width])]);
  const all = g.node('Tile', [apart, g.ints([1, 1, 1, times, 1])]);
  return g.node('Reshape', [all, g.ints([0, 0, heads * times * width])]);
}
