import * as z from 'zod';
import { defineFamily } from '../family.js';
import { activation } from '../layers/activation.js';
import { linear } from '../layers/linear.js';
import { layerNorm } from '../layers/norm.js';
import { labelScores, imageHeads } from '../bases/vision/image-heads.js';
import type { ImageModel } from '../bases/vision/image-encoder.js';
import { patches, imageInput, withTokens } from '../layers/patch-embed.js';
import { preNormLayer, type PreNormNames } from '../layers/pre-norm-layer.js';
import { firstToken } from '../bases/encoder/encoder-heads.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { size } from '../config-fields.js';
import { gridSize, type VitConfig, vitConfig, vitSizes } from '../bases/vision/vit-config.js';

const config = z.object({
  ...vitConfig,
  pooler_output_size: size.nullish(),
  pooler_act: z.string().default('tanh'),
});
type Config = z.output<typeof config>;

export const VIT_NAMES: PreNormNames = {
  attentionNorm: 'layernorm_before',
  query: 'attention.attention.query',
  key: 'attention.attention.key',
  value: 'attention.attention.value',
  output: 'attention.output.dense',
  norm: 'layernorm_after',
  wide: 'intermediate.dense',
  narrow: 'output.dense',
};

/** Patches behind learned tokens, with a position for each of all: float32 [rows, tokens, width]. */
export function vitEmbeddings(g: GraphWriter, c: VitConfig, base: string, learned: readonly string[]): Value {
  const at = (name: string) => `${base}embeddings.${name}`;
  const width = c.hidden_size;
  const pixels = imageInput(g, c.num_channels, c.image_size);
  const { tokens } = patches(g, pixels, at('patch_embeddings.projection'), {
    ...{ channels: c.num_channels, width, patch: c.patch_size },
  });
  const named = learned.map((name) => g.weight(at(name), [1, 1, width]));
  const [lines, columns] = gridSize(c.image_size, c.patch_size);
  const positions = g.weight(at('position_embeddings'), [1, lines * columns + learned.length, width]);
  return g.node('Add', [withTokens(g, tokens, named), positions]);
}

/** All layers, without the norm behind them. */
export function vitLayers(g: GraphWriter, embedded: Value, c: VitConfig, base: string): Value {
  let x = embedded;
  const biases = { query: c.qkv_bias, key: c.qkv_bias, value: c.qkv_bias };
  for (let i = 0; i < c.num_hidden_layers; i++) {
    const at = (part: string) => `${base}encoder.layer.${i}.${part}`;
    x = preNormLayer(g, x, { ...vitSizes(c), names: VIT_NAMES, at, biases });
  }
  return x;
}

function pool(g: GraphWriter, states: Value, c: Config): Value | undefined {
  if (!g.weights.has('vit.pooler.dense.weight')) return undefined;
  const dense = linear(g, firstToken(g, states), 'vit.pooler.dense', {
    ...{ from: c.hidden_size, to: c.pooler_output_size ?? c.hidden_size },
  });
  return activation(g, dense, c.pooler_act);
}

const modelOf = (c: Config): ImageModel => ({
  ...vitSizes(c),
  states: (g) => {
    const x = vitLayers(g, vitEmbeddings(g, c, 'vit.', ['cls_token']), c, 'vit.');
    return layerNorm(g, x, 'vit.layernorm', vitSizes(c));
  },
  pool: (g, states) => pool(g, states, c),
  pooledShape: ['rows', c.pooler_output_size ?? c.hidden_size],
  classify: (g, states) => labelScores(g, firstToken(g, states), vitSizes(c)),
});

/** modeling_vit.py */
export const vit = defineFamily({
  modelTypes: ['vit'],
  config,
  prefixes: ['vit.'],
  heads: imageHeads(modelOf),
  image: modelOf,
});
