import * as z from 'zod';
import { embedding } from '../../layers/linear.js';
import { positionsOf } from '../../layers/text-inputs.js';
import { type Edges, patches, imageInput } from '../../layers/patch-embed.js';
import { preNormLayer, type PreNormNames } from '../../layers/pre-norm-layer.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import { epsilon, layers, size } from '../../config-fields.js';
import { channels, gridSize } from './vit-config.js';

/** The two encoders of CLIP and SigLIP: layers of the same names over patches and over tokens. */

const tower = {
  hidden_size: size,
  intermediate_size: size,
  num_hidden_layers: layers.default(12),
  num_attention_heads: size,
  hidden_act: z.string(),
  layer_norm_eps: epsilon,
};

/** Fields of a tower over texts, whose defaults differ. */
export const textTower = {
  ...tower,
  vocab_size: size,
  max_position_embeddings: size,
};

const edge = z
  .int()
  .min(1)
  .max(2 ** 14);

/** Fields of a tower over images, whose defaults differ. */
export const imageTower = { ...tower, num_channels: channels, image_size: edge, patch_size: edge };

export type Tower = z.output<z.ZodObject<typeof tower>>;
export type TextTower = z.output<z.ZodObject<typeof textTower>>;
export type ImageTower = z.output<z.ZodObject<typeof imageTower>>;

const NAMES: PreNormNames = {
  attentionNorm: 'layer_norm1',
  query: 'self_attn.q_proj',
  key: 'self_attn.k_proj',
  value: 'self_attn.v_proj',
  output: 'self_attn.out_proj',
  norm: 'layer_norm2',
  wide: 'mlp.fc1',
  narrow: 'mlp.fc2',
};

export const towerSizes = (c: Tower) => ({
  width: c.hidden_size,
  inner: c.intermediate_size,
  heads: c.num_attention_heads,
  epsilon: c.layer_norm_eps,
  act: c.hidden_act,
});

export interface TowerOptions {
  /** What the names of its tensors begin with. */
  base: string;
  /** int32 [rows, tokens], 0 for padding. */
  padding?: Value;
  causal?: boolean;
}

/** All layers of a tower; float32 [rows, tokens, width]. */
export const towerLayers = (g: GraphWriter, embedded: Value, c: Tower, options: TowerOptions): Value =>
  towerStates(g, embedded, c, options).at(-1)!;

/** What the layers of a tower read, and what the last one gives; float32 [rows, tokens, width] each. */
export function towerStates(
  g: GraphWriter,
  embedded: Value,
  c: Tower,
  { base, ...seen }: TowerOptions,
): Value[] {
  const states = [embedded];
  for (let i = 0; i < c.num_hidden_layers; i++)
    states.push(towerLayer(g, states.at(-1)!, c, { base: `${base}.encoder.layers.${i}`, ...seen }));
  return states;
}

/** One layer of a tower, by the beginning of its tensors' names: float32 [rows, tokens, width]. */
export const towerLayer = (g: GraphWriter, x: Value, c: Tower, { base, ...seen }: TowerOptions): Value =>
  preNormLayer(g, x, { ...towerSizes(c), names: NAMES, at: (part) => `${base}.${part}`, ...seen });

/** Tokens and their positions: float32 [rows, tokens, width]. @param ids int64 [rows, tokens] */
export function embeddedTexts(g: GraphWriter, ids: Value, c: TextTower): Value {
  const at = (name: string) => `text_model.embeddings.${name}`;
  const width = c.hidden_size;
  const tokens = embedding(g, ids, at('token_embedding'), { rows: c.vocab_size, width });
  const rows = c.max_position_embeddings;
  return g.node('Add', [
    tokens,
    embedding(g, positionsOf(g, ids), at('position_embedding'), { rows, width }),
  ]);
}

/** Patches of images of the one size that the tower takes: float32 [rows, patches, width]. */
export function embeddedPatches(g: GraphWriter, c: ImageTower, { bias }: { bias: boolean }): Value {
  const pixels = imageInput(g, c.num_channels, [c.image_size, c.image_size]);
  return patches(g, pixels, 'vision_model.embeddings.patch_embedding', {
    ...{ channels: c.num_channels, width: c.hidden_size, bias },
    patch: [c.patch_size, c.patch_size],
  }).tokens;
}

/** The table of positions [positions, width], `more` of them beside those of the patches. */
export function imagePositions(g: GraphWriter, c: ImageTower, more: number): Value {
  const [edge, patch]: [Edges, Edges] = [
    [c.image_size, c.image_size],
    [c.patch_size, c.patch_size],
  ];
  const [lines, columns] = gridSize(edge, patch);
  return g.weight('vision_model.embeddings.position_embedding.weight', [
    ...[lines * columns + more, c.hidden_size],
  ]);
}

/** Vectors of both towers, each of length 1: float32 [rows, width]. */
export interface Vectors {
  images: Value;
  texts: Value;
}

/** Declares the outputs: `logits_per_image` [rows, texts], and the vectors that they follow from. */
export function similarities(
  g: GraphWriter,
  vectors: Vectors,
  { width, bias }: { width: number; bias?: Value },
): void {
  const unit = (x: Value) => g.node('LpNormalization', [x], { axis: -1, p: 2 });
  const [images, texts] = [unit(vectors.images), unit(vectors.texts)];
  const scale = g.node('Exp', [scalarWeight(g, 'logit_scale')]);
  const turned = g.node('Transpose', [texts], { perm: [1, 0] });
  const scaled = g.node('Mul', [g.node('MatMul', [images, turned]), scale]);
  const logits = bias === undefined ? scaled : g.node('Add', [scaled, bias]);
  g.output('logits_per_image', logits, 'float32', ['rows', 'texts']);
  g.output('text_embeds', texts, 'float32', ['texts', width]);
  g.output('image_embeds', images, 'float32', ['rows', width]);
}

/** A number that some checkpoints hold as a scalar, and some as a list of one. */
export function scalarWeight(g: GraphWriter, name: string): Value {
  const shape = g.weights.shapeOf(name)?.length === 1 ? [1] : [];
  return g.weight(name, shape);
}

/** Names of a vision tower that is published alone: transformers 4 writes them below vision_model., transformers 5 without it. */
export const LONE_VISION_TOWER = { 'vision_model.': ['vision_model.', ''] };

/** The same of a text tower; with a projection beside it, it stays below text_model. */
export const LONE_TEXT_TOWER = { 'text_model.': ['text_model.', ''] };
