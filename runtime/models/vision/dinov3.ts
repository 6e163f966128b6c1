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

const config = z.object({
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
});
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

/** float32 [rows, tokens, width]: of the image, of registers, of patches. */
function statesOf(g: GraphWriter, c: Config): Value {
  const sizes = sizesOf(c);
  const { width, heads } = sizes;
  const pixels = imageInput(g, c.num_channels);
  const { tokens, grid } = patches(g, pixels, 'embeddings.patch_embeddings', {
    ...{ channels: c.num_channels, width, patch: [c.patch_size, c.patch_size] },
  });
  const registers = c.num_register_tokens;
  const named = [g.weight('embeddings.cls_token', [1, 1, width])];
  if (registers > 0) named.push(g.weight('embeddings.register_tokens', [1, registers, width]));
  let x = withTokens(g, tokens, named);
  const rows = g.node('Shape', [tokens], { start: 0, end: 1 });
  const own = headWidth(width, heads);
  const turns = centredTurns(g, { grid, rows, learned: 1 + registers, width: own }, c.rope_theta);
  const bias = c.mlp_bias;
  for (let i = 0; i < c.num_hidden_layers; i++) {
    const at = (name: string) => `layer.${i}.${name}`;
    x = preNormLayer(g, x, {
      ...{ ...sizes, names: NAMES, at, scales: ['layer_scale1.lambda1', 'layer_scale2.lambda1'] },
      biases: {
        ...{ query: c.query_bias, key: c.key_bias, value: c.value_bias },
        ...{ output: c.proj_bias, feedForward: bias },
      },
      turn: (heading) => rotate(g, heading, turns, { heads, width: own }),
      feedForward: c.use_gated_mlp
        ? (_, read) => gatedFeedForward(g, read, (name) => at(`mlp.${name}`), { ...sizes, bias })
        : undefined,
    });
  }
  return layerNorm(g, x, 'norm', sizes);
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
