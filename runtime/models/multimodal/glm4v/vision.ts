import * as z from 'zod';
import { epsilon, layers, size } from '../../config-fields.js';
import { channels } from '../../bases/vision/vit-config.js';
import { headWidth } from '../../layers/head-sizes.js';
import { linear, matMulTransposed } from '../../layers/linear.js';
import { layerNorm, rmsNorm } from '../../layers/norm.js';
import { gatedFeedForward } from '../../layers/swiglu.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import { cellGrid, type CellGrid, inCells, inOrder, patchTurns, resizedPositions } from '../patch-cells.js';
import { embeddedPatches, patchLayer, small, type VisionModel } from '../qwen2-vl/vision.js';

const common = {
  depth: layers.default(24),
  hidden_act: z.string().default('silu'),
  in_channels: channels,
  patch_size: small.default(14),
  rms_norm_eps: epsilon.default(1e-5),
  spatial_merge_size: small.default(2),
  temporal_patch_size: small.default(2),
  rope_theta: z.number().positive().default(10_000),
};

export const glmVision = z.object({
  ...common,
  hidden_size: size.default(1536),
  attention_bias: z.boolean().default(false),
  num_heads: size.default(12),
  image_size: size.default(336),
  out_hidden_size: size.default(4096),
  intermediate_size: size.default(13_696),
});
type GlmVision = z.output<typeof glmVision>;

export const ocrVision = z.object({
  ...common,
  hidden_size: size.default(1024),
  attention_bias: z.boolean().default(true),
  num_heads: size.default(16),
  out_hidden_size: size.default(1536),
  intermediate_size: size.default(4096),
});
type OcrVision = z.output<typeof ocrVision>;

function modelOf(
  c: OcrVision,
  { inner, bias, headNorms }: Record<'bias' | 'headNorms', boolean> & { inner: number },
): VisionModel {
  const { hidden_size: width, rms_norm_eps: epsilon } = c;
  return {
    ...{ width, layers: c.depth, heads: c.num_heads, merge: c.spatial_merge_size, to: c.out_hidden_size },
    patch: {
      ...{ channels: c.in_channels, frames: c.temporal_patch_size, edge: c.patch_size, bias: true },
    },
    seesAll: () => true,
    norm: (g, x, name) => rmsNorm(g, x, name, { width, epsilon }),
    bias: { projections: c.attention_bias, output: bias },
    headEpsilon: headNorms ? epsilon : undefined,
    feedForward: (g, x, at) => gatedFeedForward(g, x, at, { width, inner, act: c.hidden_act, bias }),
  };
}

/** `image_features` [features, width] of an image's patches; inputs are as Qwen2-VL's. */
export function writeGlmEncoder(g: GraphWriter, c: GlmVision): void {
  const model = modelOf(c, { inner: c.out_hidden_size, bias: false, headNorms: false });
  const { hidden_size: width, intermediate_size: inner } = c;
  const side = Math.floor(c.image_size / c.patch_size);
  const embedded = (grid: CellGrid) => {
    const tokens = model.norm(g, embeddedPatches(g, model), 'visual.post_conv_layernorm');
    const table = g.weight('visual.embeddings.position_embedding.weight', [side * side, width]);
    const positions = resizedPositions(g, grid, { table, side, width, mode: 'cubic' });
    return g.node('Add', [inCells(g, tokens, grid, width), positions]);
  };
  writeFeatures(g, c, { model, embedded, inner });
}

/** The same without a position table, and with norms of heads. */
export function writeOcrEncoder(g: GraphWriter, c: OcrVision): void {
  const bias = c.attention_bias;
  const model = modelOf(c, { inner: c.intermediate_size, bias, headNorms: true });
  const embedded = (grid: CellGrid) => inCells(g, embeddedPatches(g, model), grid, model.width);
  writeFeatures(g, c, { model, embedded, inner: c.out_hidden_size * c.in_channels });
}

interface Encoder {
  model: VisionModel;
  /** What the first layer reads. */
  embedded(grid: CellGrid): Value;
  /** Of the merger. */
  inner: number;
}

function writeFeatures(g: GraphWriter, c: OcrVision, { model, embedded, inner }: Encoder): void {
  const { width, merge, to } = model;
  const grid = cellGrid(g, g.input('image_grid_thw', 'int64', [1, 3]), model);
  const turn = patchTurns(g, grid, headWidth(width, model.heads), c.rope_theta);
  let x = embedded(grid);
  for (let layer = 0; layer < model.layers; layer++) x = patchLayer(g, x, { model, layer, grid, turn });
  const normed = model.norm(g, x, 'visual.post_layernorm');
  const cells = downsampled(g, inOrder(g, normed, grid, merge * merge * width), model);
  const at = (name: string) => `visual.merger.${name}`;
  const projected = linear(g, cells, at('proj'), { from: to, to, bias: false });
  const named = { width: to, epsilon: 1e-5 };
  const wide = g.node('Gelu', [layerNorm(g, projected, at('post_projection_norm'), named)]);
  const features = gatedFeedForward(g, wide, at, { width: to, inner, act: c.hidden_act, bias: false });
  g.output('image_features', features, 'float32', ['features', to]);
}

/** A convolution over the patches of each cell: float32 [cells, to] of [cells, patches · width]. */
function downsampled(g: GraphWriter, cells: Value, { width, merge, to }: VisionModel): Value {
  const patches = g.node('Reshape', [cells, g.ints([-1, merge * merge, width])]);
  const numbers = width * merge * merge;
  const byChannel = g.node('Reshape', [
    ...[g.node('Transpose', [patches], { perm: [0, 2, 1] }), g.ints([-1, numbers])],
  ]);
  const weight = g.weight('visual.downsample.weight', [to, width, merge, merge]);
  const product = matMulTransposed(g, byChannel, g.node('Reshape', [weight, g.ints([to, numbers])]));
  return g.node('Add', [product, g.weight('visual.downsample.bias', [to])]);
}
