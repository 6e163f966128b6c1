import { preNormLayer } from '../../layers/pre-norm-layer.js';
import { layerNorm } from '../../layers/norm.js';
import { tokensFrom } from '../../layers/patch-embed.js';
import { gatedFeedForward } from '../../layers/swiglu.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import { vitSizes } from '../../bases/vision/vit-config.js';
import { stagesOf } from '../backbone/stages.js';
import { dinov2Embeddings, DINOV2_NAMES, swigluWidth } from '../dinov2/family.js';
import type { RfDetrBackbone } from './config.js';

/** What files call the backbone. */
const BASE = 'backbone.0.encoder.encoder.';

interface Windowed {
  /** float32 [rows · windows, 1 + patches of a window, width]: each window has a token of the image. */
  tokens: Value;
  /** int64 [2]: patches of a column and of a line. */
  grid: Value;
  /** int64 [1] */
  rows: Value;
}

const joined = (g: GraphWriter, parts: readonly Value[]): Value => g.node('Concat', parts, { axis: 0 });

/** Lines and columns of a window, int64 [1] each. */
function windowSize(g: GraphWriter, grid: Value, windows: number): [Value, Value] {
  const each = g.node('Div', [grid, g.ints([windows], [])]);
  return g.nodes('Split', [each, g.ints([1, 1])], { outputs: 2, attributes: { axis: 0 } }) as [Value, Value];
}

/**
 * Patches by windows. Python counts columns of a window where it parts lines, which matters for images that are no squares:
 * it fails or, as here, mixes them. window_partition in modeling_rf_detr.py
 */
function parted(g: GraphWriter, tokens: Value, grid: Value, c: RfDetrBackbone): Windowed {
  const [width, n] = [c.hidden_size, c.num_windows];
  const rows = g.node('Shape', [tokens], { start: 0, end: 1 });
  if (n === 1) return { tokens, grid, rows };
  const [lines, columns] = windowSize(g, grid, n);
  const count = g.ints([n]);
  const shape = joined(g, [rows, count, columns, count, lines, g.ints([width])]);
  const split = g.node('Reshape', [tokensFrom(g, tokens, 1), shape]);
  const together = g.node('Transpose', [split], { perm: [0, 1, 3, 2, 4, 5] });
  const all = g.node('Mul', [rows, g.ints([n * n])]);
  const cells = g.node('Mul', [lines, columns]);
  const patches = g.node('Reshape', [together, joined(g, [all, cells, g.ints([width])])]);
  const first = g.node('Slice', [tokensFrom(g, tokens, 0, 1), g.ints([0]), g.ints([1]), g.ints([0])]);
  const ofWindows = g.node('Expand', [first, joined(g, [all, g.ints([1, width])])]);
  return { tokens: g.node('Concat', [ofWindows, patches], { axis: 1 }), grid, rows };
}

/** float32 [rows, width, lines, columns] of tokens by windows. */
function image(g: GraphWriter, x: Value, { grid, rows }: Windowed, c: RfDetrBackbone): Value {
  const [width, n] = [c.hidden_size, c.num_windows];
  const [lines, columns] = windowSize(g, grid, n);
  const count = g.ints([n]);
  const shape = joined(g, [rows, count, count, lines, columns, g.ints([width])]);
  const split = g.node('Reshape', [tokensFrom(g, x, 1), shape]);
  const together = g.node('Transpose', [split], { perm: [0, 5, 1, 3, 2, 4] });
  return g.node('Reshape', [together, joined(g, [rows, g.ints([width]), grid])]);
}

/** Layers that look at windows alone. */
function windowed(c: RfDetrBackbone, stages: readonly number[]): (layer: number) => boolean {
  const given = c.window_block_indexes;
  if (given) return (layer) => given.includes(layer);
  const last = stages.at(-1)!;
  return (layer) => layer <= last && !stages.includes(layer);
}

function writeLayer(
  g: GraphWriter,
  x: Value,
  c: RfDetrBackbone,
  { layer, isWhole }: { layer: number; isWhole: boolean },
): Value {
  const at = (part: string) => `${BASE}encoder.layer.${layer}.${part}`;
  const sizes = { ...vitSizes(c), inner: Math.trunc(c.hidden_size * c.mlp_ratio) };
  const gatedSize = { width: sizes.width, inner: swigluWidth(sizes.inner), act: 'silu', bias: true };
  const written = preNormLayer(g, isWhole ? together(g, x, c) : x, {
    ...{ ...sizes, names: DINOV2_NAMES, at },
    biases: { query: c.qkv_bias, key: c.qkv_bias, value: c.qkv_bias },
    scales: ['layer_scale1.lambda1', 'layer_scale2.lambda1'],
    feedForward: c.use_swiglu_ffn
      ? (_, read) => gatedFeedForward(g, read, (name) => at(`mlp.${name}`), gatedSize)
      : undefined,
  });
  return isWhole ? g.node('Reshape', [written, g.node('Shape', [x])]) : written;
}

/** Tokens of all windows of an image in one row. */
function together(g: GraphWriter, x: Value, { hidden_size: width, num_windows: n }: RfDetrBackbone): Value {
  const [rows, tokens] = g.nodes('Split', [g.node('Shape', [x], { start: 0, end: 2 }), g.ints([1, 1])], {
    ...{ outputs: 2, attributes: { axis: 0 } },
  }) as [Value, Value];
  const [each, all] = [g.node('Div', [rows, g.ints([n * n])]), g.node('Mul', [tokens, g.ints([n * n])])];
  return g.node('Reshape', [x, joined(g, [each, all, g.ints([width])])]);
}

/** Images of the layers that are read, side by side: float32 [rows, images · width, lines, columns]. */
export function rfDetrFeatures(
  g: GraphWriter,
  pixels: Value,
  c: RfDetrBackbone,
): { features: Value; width: number } {
  const embedding = { ...c, num_register_tokens: 0 };
  const { tokens, grid } = dinov2Embeddings(g, embedding, BASE, pixels);
  const stages = stagesOf(c, c.num_hidden_layers);
  const isWindowed = windowed(c, stages);
  const windows = parted(g, tokens, grid, c);
  const states = [windows.tokens];
  for (let layer = 0; layer < stages.at(-1)!; layer++)
    states.push(
      writeLayer(g, states.at(-1)!, c, { layer, isWhole: c.num_windows > 1 && !isWindowed(layer) }),
    );
  const norm = { width: c.hidden_size, epsilon: c.layer_norm_eps };
  const images = stages.map((stage) => {
    const x = states[stage]!;
    const normed = c.apply_layernorm ? layerNorm(g, x, `${BASE}layernorm`, norm) : x;
    return image(g, normed, windows, c);
  });
  return { features: g.node('Concat', images, { axis: 1 }), width: stages.length * c.hidden_size };
}
