import * as z from 'zod';
import { defineFamily } from '../../family.js';
import { gatedHalves } from '../../layers/swiglu.js';
import { layerNorm } from '../../layers/norm.js';
import { labelScores, meanToken, imageHeads } from '../../bases/vision/image-heads.js';
import type { ImageModel } from '../../bases/vision/image-encoder.js';
import { patches, imageInput, resizedTable, tokensFrom, withTokens } from '../../layers/patch-embed.js';
import { preNormLayer, type PreNormNames } from '../../layers/pre-norm-layer.js';
import { firstToken } from '../../bases/encoder/encoder-heads.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import { epsilon } from '../../config-fields.js';
import { gridSize, vitConfig, vitSizes } from '../../bases/vision/vit-config.js';

const fields = {
  ...vitConfig,
  layer_norm_eps: epsilon.default(1e-6),
  mlp_ratio: z.number().min(0.01).max(64).default(4),
  use_swiglu_ffn: z.boolean().default(false),
};

const isSquare = (c: { image_size: readonly [number, number] }): boolean =>
  c.image_size[0] === c.image_size[1];
const NO_SQUARE = {
  ...{ message: 'positions of images that are no squares are not known', path: ['image_size'] },
};

export const dinov2Config = z
  .object({ ...fields, patch_size: vitConfig.patch_size.unwrap().default([14, 14]) })
  .refine(isSquare, NO_SQUARE);
export type Dinov2Config = z.output<typeof dinov2Config>;

export const DINOV2_NAMES: PreNormNames = {
  attentionNorm: 'norm1',
  query: 'attention.attention.query',
  key: 'attention.attention.key',
  value: 'attention.attention.value',
  output: 'attention.output.dense',
  norm: 'norm2',
  wide: 'mlp.fc1',
  narrow: 'mlp.fc2',
};

const sizesOf = (c: Dinov2Config) => ({
  ...vitSizes(c),
  inner: Math.trunc(c.hidden_size * c.mlp_ratio),
});

/** How many tokens without a position stand behind that of the image; those networks resize positions another way. */
const registersOf = (c: EmbeddingConfig & { num_register_tokens?: number }) => c.num_register_tokens;

/** What patches and their positions are made of. */
type EmbeddingConfig = Pick<Dinov2Config, 'num_channels' | 'hidden_size' | 'patch_size' | 'image_size'>;

export interface Dinov2Tokens {
  tokens: Value;
  /** int64 [2]: patches of a column and of a line. */
  grid: Value;
}

/** Patches behind the token of the image, with the positions of a grid of any size. */
export function dinov2Embeddings(
  g: GraphWriter,
  c: EmbeddingConfig,
  base: string,
  pixels = imageInput(g, c.num_channels),
): Dinov2Tokens {
  const at = (name: string) => `${base}embeddings.${name}`;
  const width = c.hidden_size;
  const { tokens, grid } = patches(g, pixels, at('patch_embeddings.projection'), {
    ...{ channels: c.num_channels, width, patch: c.patch_size },
  });
  const from = gridSize(c.image_size, c.patch_size);
  const positions = g.weight(at('position_embeddings'), [1, from[0] * from[1] + 1, width]);
  const registers = registersOf(c);
  const mode = registers === undefined ? 'cubic' : 'cubic antialias';
  const others = resizedTable(g, tokensFrom(g, positions, 1), { from, to: grid, width, mode });
  const all = g.node('Concat', [tokensFrom(g, positions, 0, 1), others], { axis: 1 });
  const first = g.weight(at('cls_token'), [1, 1, width]);
  const placed = g.node('Add', [withTokens(g, tokens, [first]), all]);
  if (!registers) return { tokens: placed, grid };
  const table = g.weight(at('register_tokens'), [1, registers, width]);
  const rows = g.node('Shape', [placed], { start: 0, end: 1 });
  const learned = g.node('Expand', [
    table,
    g.node('Concat', [rows, g.ints([registers, width])], { axis: 0 }),
  ]);
  const parts = [tokensFrom(g, placed, 0, 1), learned, tokensFrom(g, placed, 1)];
  return { tokens: g.node('Concat', parts, { axis: 1 }), grid };
}

/** Two thirds of the width, up to the next multiple of 8, as there are three matrices. */
export const swigluWidth = (inner: number): number => Math.floor((Math.trunc((inner * 2) / 3) + 7) / 8) * 8;

/** A layer of many, float32 [rows, tokens, width]. */
export function dinov2Layer(
  g: GraphWriter,
  x: Value,
  c: Dinov2Config,
  { base, layer }: { base: string; layer: number },
): Value {
  const at = (part: string) => `${base}encoder.layer.${layer}.${part}`;
  const sizes = sizesOf(c);
  const inner = swigluWidth(sizes.inner);
  const names = { both: at('mlp.weights_in'), down: at('mlp.weights_out') };
  return preNormLayer(g, x, {
    ...{ ...sizes, names: DINOV2_NAMES, at },
    biases: { query: c.qkv_bias, key: c.qkv_bias, value: c.qkv_bias },
    scales: ['layer_scale1.lambda1', 'layer_scale2.lambda1'],
    feedForward: c.use_swiglu_ffn
      ? (_, read) => gatedHalves(g, read, names, { width: sizes.width, inner, act: 'silu', bias: true })
      : undefined,
  });
}

function statesOf(g: GraphWriter, c: Dinov2Config, base: string): Value {
  let x = dinov2Embeddings(g, c, base).tokens;
  for (let layer = 0; layer < c.num_hidden_layers; layer++) x = dinov2Layer(g, x, c, { base, layer });
  return layerNorm(g, x, `${base}layernorm`, sizesOf(c));
}

const modelOf = (c: Dinov2Config, base = 'dinov2.'): ImageModel => ({
  ...sizesOf(c),
  states: (g) => statesOf(g, c, base),
  pool: firstToken,
  classify: (g, states) => {
    const read = [firstToken(g, states), meanToken(g, tokensFrom(g, states, 1 + (registersOf(c) ?? 0)))];
    const { width, labels } = sizesOf(c);
    return labelScores(g, g.node('Concat', read, { axis: 1 }), { width: 2 * width, labels });
  },
});

/** modeling_dinov2.py */
export const dinov2 = defineFamily({
  modelTypes: ['dinov2'],
  readers: { processor: 'Bit' },
  config: dinov2Config,
  prefixes: ['dinov2.'],
  heads: imageHeads<Dinov2Config>((c) => modelOf(c)),
});

const registersConfig = z
  .object({ ...fields, num_register_tokens: z.int().min(0).max(4096).default(4) })
  .refine(isSquare, NO_SQUARE);

/** modeling_dinov2_with_registers.py */
export const dinov2WithRegisters = defineFamily({
  modelTypes: ['dinov2_with_registers'],
  readers: { processor: 'Bit' },
  config: registersConfig,
  prefixes: ['dinov2_with_registers.'],
  heads: imageHeads<z.output<typeof registersConfig>>((c) => modelOf(c, 'dinov2_with_registers.')),
});
