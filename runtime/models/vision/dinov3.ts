import { named } from '../inert-fields.js';
import * as z from 'zod';
import { type Family, defineFamily } from '../family.js';
import { gatedFeedForward } from '../layers/swiglu.js';
import { headWidth } from '../layers/head-sizes.js';
import { layerNorm } from '../layers/norm.js';
import { patches, imageInput, withTokens } from '../layers/patch-embed.js';
import { preNormLayer, type PreNormNames } from '../layers/pre-norm-layer.js';
import { centredTurns } from '../layers/rope-2d.js';
import { rotate } from '../layers/rope.js';
import { firstToken } from '../bases/encoder/encoder-heads.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { epsilon, layers, size } from '../config-fields.js';
import { channels } from '../bases/vision/vit-config.js';

/** Of DINOv3, within others, too. */
export const dinov3Fields = {
  patch_size: z
    .int()
    .min(1)
    .max(2 ** 14)
    .default(16),
  hidden_size: size.default(384),
  intermediate_size: size.default(1536),
  num_hidden_layers: layers.default(12),
  num_attention_heads: size.default(6),
  hidden_act: z.string().default('gelu'),
  layer_norm_eps: epsilon.default(1e-5),
  rope_theta: z.number().min(1).max(1e9).default(100),
  num_channels: channels,
  query_bias: z.boolean().default(true),
  key_bias: z.boolean().default(false),
  value_bias: z.boolean().default(true),
  proj_bias: z.boolean().default(true),
  mlp_bias: z.boolean().default(true),
  use_gated_mlp: z.boolean().default(false),
  num_register_tokens: z.int().min(0).max(4096).default(0),
};
const config = z.object(dinov3Fields);
type Config = z.output<typeof config>;

const NAMES: PreNormNames = {
  attentionNorm: 'norm1',
  query: 'attention.q_proj',
  key: 'attention.k_proj',
  value: 'attention.v_proj',
  output: 'attention.o_proj',
  norm: 'norm2',
  wide: 'mlp.up_proj',
  narrow: 'mlp.down_proj',
};

const sizesOf = (c: Config) => ({
  width: c.hidden_size,
  inner: c.intermediate_size,
  heads: c.num_attention_heads,
  epsilon: c.layer_norm_eps,
  act: c.hidden_act,
});

export interface Dinov3Encoder {
  /** float32 [rows, tokens, width]: of the image, of registers, of patches. */
  tokens: Value;
  /** int64 [2]: lines and columns of patches. */
  grid: Value;
  /** @param queries tokens that another network has put before the others @param bias added to scores */
  layer(x: Value, of: { index: number; queries?: number; bias?: Value | undefined }): Value;
}

/** @param layers what stands before the number of a layer @param base what stands before all names but those of layers */
export function dinov3Encoder(
  g: GraphWriter,
  c: Config,
  { pixels, layers: named, base = '' }: { pixels: Value; layers: string; base?: string },
): Dinov3Encoder {
  const sizes = sizesOf(c);
  const { width, heads } = sizes;
  const { tokens, grid } = patches(g, pixels, `${base}embeddings.patch_embeddings`, {
    ...{ channels: c.num_channels, width, patch: [c.patch_size, c.patch_size] },
  });
  const registers = c.num_register_tokens;
  const first = [g.weight(`${base}embeddings.cls_token`, [1, 1, width])];
  if (registers > 0) first.push(g.weight(`${base}embeddings.register_tokens`, [1, registers, width]));
  const x = withTokens(g, tokens, first);
  const rows = g.node('Shape', [tokens], { start: 0, end: 1 });
  const own = headWidth(width, heads);
  const turnsOf = (queries: number) =>
    g.once(`turns behind ${queries}`, () =>
      centredTurns(g, { grid, rows, learned: queries + 1 + registers, width: own }, c.rope_theta),
    );
  const bias = c.mlp_bias;
  return {
    ...{ tokens: x, grid },
    layer(read, { index, queries = 0, bias: added }) {
      const at = (name: string) => `${named}.${index}.${name}`;
      const turns = turnsOf(queries);
      return preNormLayer(g, read, {
        ...{ ...sizes, names: NAMES, at, scales: ['layer_scale1.lambda1', 'layer_scale2.lambda1'] },
        ...(added !== undefined && { bias: added }),
        biases: {
          ...{ query: c.query_bias, key: c.key_bias, value: c.value_bias },
          ...{ output: c.proj_bias, feedForward: bias },
        },
        turn: (heading) => rotate(g, heading, turns, { heads, width: own }),
        feedForward: c.use_gated_mlp
          ? (_, normed) => gatedFeedForward(g, normed, (name) => at(`mlp.${name}`), { ...sizes, bias })
          : undefined,
      });
    },
  };
}

/** float32 [rows, tokens, width] */
function statesOf(g: GraphWriter, c: Config): Value {
  const encoder = dinov3Encoder(g, c, { pixels: imageInput(g, c.num_channels), layers: 'layer' });
  let x = encoder.tokens;
  for (let index = 0; index < c.num_hidden_layers; index++) x = encoder.layer(x, { index });
  return layerNorm(g, x, 'norm', sizesOf(c));
}

const heads: Family<Config>['heads'] = {
  'image-features': {
    model: (g, c) => {
      const states = statesOf(g, c);
      g.output('last_hidden_state', states, 'float32', ['rows', 'tokens', c.hidden_size]);
      g.output('pooler_output', firstToken(g, states), 'float32', ['rows', c.hidden_size]);
    },
  },
};

/** modeling_dinov3_vit.py */
export const dinov3 = defineFamily({
  modelTypes: ['dinov3_vit'],
  inert: [
    {
      fields: named('pos_embed_(?:shift|jitter|rescale)'),
      reason: 'augmentation of positions, in training alone',
    },
  ],
  readers: { processor: 'DINOv3ViT' },
  config,
  prefixes: ['dinov3_vit.'],
  heads,
});
