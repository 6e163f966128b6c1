import * as z from 'zod';
import { imageTower, towerLayer, towerSizes } from '../../bases/vision/clip-towers.js';
import { activation } from '../../layers/activation.js';
import { attention } from '../../layers/attention.js';
import { embedding, linear, matMulTransposed } from '../../layers/linear.js';
import { layerNorm } from '../../layers/norm.js';
import { siglipTower } from '../../vision/siglip.js';
import { GraphError } from '../../writer/errors.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import { ELEMENTS } from '../../writer/tensors.js';
import { joinedNeighbours } from '../idefics3.js';

/** SigLIP over slices of any size, whose patches are merged within it. MiniCPMV4_6VisionModel */

/** Edges of what is merged. */
export const pair = z.array(z.int()).refine(([a, b, ...more]) => a === 2 && b === 2 && more.length === 0, {
  message: 'are no squares of four patches',
});

export const slicedImages = z.object({
  ...{ ...imageTower, ...siglipTower },
  image_size: imageTower.image_size.default(224),
  patch_size: imageTower.patch_size.default(16),
  window_kernel_size: pair.default([2, 2]),
});
export type SlicedImages = z.output<typeof slicedImages>;

const EDGE = 2;
const BASE = 'vision_model';

/** What the tower makes of a slice. */
export interface SliceStates {
  /** float32 [1, patches, width], line by line. */
  states: Value;
  /** int64 [2]: lines and columns of patches. */
  grid: Value;
}

/**
 * What the tower makes of a slice: `pixel_values` [1, patches, numbers] line by line, and `spatial_shapes` [1, 2], lines and columns.
 * @param merging the layer behind which four patches become one
 * @throws GraphError for a layer that there is not
 */
export function slicedStates(g: GraphWriter, c: SlicedImages, merging: number | undefined): SliceStates {
  if (merging !== undefined && (merging < 0 || merging >= c.num_hidden_layers))
    throw new GraphError(`config.json: insert_layer_id ${merging} is no layer of the vision encoder`);
  const shapes = g.input('spatial_shapes', 'int64', [1, 2]);
  let grid = g.node('Reshape', [shapes, g.ints([2])]);
  let states = embedded(g, grid, c);
  for (let i = 0; i < c.num_hidden_layers; i++) {
    states = towerLayer(g, states, c, { base: `${BASE}.encoder.layers.${i}` });
    if (i !== merging) continue;
    states = merged(g, { states, grid }, c);
    grid = g.node('Div', [grid, g.ints([EDGE], [])]);
  }
  return { states: layerNorm(g, states, `${BASE}.post_layernorm`, towerSizes(c)), grid };
}

function embedded(g: GraphWriter, grid: Value, c: SlicedImages): Value {
  const { hidden_size: width, patch_size: edge, num_channels: channels } = c;
  const at = (name: string) => `${BASE}.embeddings.${name}`;
  const numbers = channels * edge * edge;
  const pixels = g.input('pixel_values', 'float32', [1, 'patches', numbers]);
  const weight = g.weight(at('patch_embedding.weight'), [width, channels, edge, edge]);
  const found = matMulTransposed(g, pixels, g.node('Reshape', [weight, g.ints([width, numbers])]));
  const tokens = g.node('Add', [found, g.weight(at('patch_embedding.bias'), [width])]);
  const side = Math.floor(c.image_size / edge);
  if (side < 1) throw new GraphError('config.json: patch_size of vision_config is more than its image_size');
  const table = { rows: side * side, width };
  return g.node('Add', [tokens, embedding(g, placesOf(g, grid, side), at('position_embedding'), table)]);
}

/** Indices of a table of positions, int64 [1, patches]: each patch takes the nearest line and column before it. */
function placesOf(g: GraphWriter, grid: Value, side: number): Value {
  const bounds = g.floats(boundaries(side), [1, side - 1]);
  const [lines, columns] = g.nodes('Split', [grid, g.ints([1, 1])], {
    ...{ outputs: 2, attributes: { axis: 0 } },
  }) as [Value, Value];
  const along = (count: Value) => {
    const range = g.node('Range', [g.ints([0], []), g.node('Squeeze', [count]), g.ints([1], [])]);
    const float = (x: Value) => g.node('Cast', [x], { to: ELEMENTS.float32 });
    const part = g.node('Div', [float(range), float(count)]);
    const behind = g.node('LessOrEqual', [bounds, g.node('Unsqueeze', [part, g.ints([1])])]);
    const counted = g.node('Cast', [behind], { to: ELEMENTS.int64 });
    return g.node('ReduceSum', [counted, g.ints([1])], { keepdims: 0 });
  };
  const down = g.node('Mul', [along(lines), g.ints([side], [])]);
  const places = g.node('Add', [g.node('Unsqueeze', [down, g.ints([1])]), along(columns)]);
  return g.node('Reshape', [places, g.ints([1, -1])]);
}

/** PyTorch adds to floats in blocks of eight, two at a time; what is left it counts in doubles. */
const BLOCK = 8;

/** Where the lines of a table of positions begin, but for the first, as torch.arange rounds them. */
export function boundaries(side: number): number[] {
  const step = 1 / side;
  const size = Math.ceil((1 - step) / step);
  const whole = size - (size % (2 * BLOCK));
  const values = Array.from({ length: size }, (_, i) => {
    const within = i % BLOCK;
    return Math.fround(i < whole ? Math.fround(step + step * (i - within)) + within * step : step + step * i);
  });
  // One more than there are lines would stand at 1, which no patch reaches.
  return values.slice(0, side - 1);
}

/** Four patches attend to each other and become one. MiniCPMV4_6ViTWindowAttentionMerger */
function merged(g: GraphWriter, { states, grid }: SliceStates, c: SlicedImages): Value {
  const { hidden_size: width, intermediate_size: inner, num_attention_heads: heads } = c;
  const [at, count] = [(name: string) => `${BASE}.vit_merger.${name}`, EDGE * EDGE];
  const windows = (x: Value) =>
    g.node('Reshape', [joinedNeighbours(g, x, { grid, factor: EDGE, width }), g.ints([-1, count, width])]);
  const normed = windows(layerNorm(g, states, at('layer_norm1'), towerSizes(c)));
  const part = (x: Value, name: string) => linear(g, x, at(`self_attn.${name}`), { from: width, to: width });
  const seen = { query: part(normed, 'q_proj'), key: part(normed, 'k_proj'), value: part(normed, 'v_proj') };
  const attended = g.node('Add', [windows(states), part(attention(g, seen, { heads, width }), 'out_proj')]);
  const mean = g.node('ReduceMean', [attended, g.ints([1])], { keepdims: 0 });
  const [from, wide] = [count * width, count * inner];
  const flat = g.node('Reshape', [attended, g.ints([-1, from])]);
  const read = layerNorm(g, flat, at('pre_norm'), { width: from, epsilon: c.layer_norm_eps });
  const middle = activation(g, linear(g, read, at('linear_1'), { from, to: wide }), 'gelu_pytorch_tanh');
  const found = g.node('Add', [linear(g, middle, at('linear_2'), { from: wide, to: width }), mean]);
  return g.node('Unsqueeze', [found, g.ints([0])]);
}
