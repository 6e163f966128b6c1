import * as z from 'zod';
import { embeddedDecoderRoles } from '../bases/decoder/decoder-heads.js';
import { towerSizes } from '../bases/vision/clip-towers.js';
import { channels } from '../bases/vision/vit-config.js';
import { epsilon, layers, size } from '../config-fields.js';
import { defineFamily } from '../family.js';
import { named } from '../inert-fields.js';
import { activation } from '../layers/activation.js';
import { linear } from '../layers/linear.js';
import { layerNorm } from '../layers/norm.js';
import { preNormLayer, type PreNormNames } from '../layers/pre-norm-layer.js';
import { embeddedBySiglip } from '../vision/siglip.js';
import type { GraphWriter } from '../writer/graph-writer.js';
import { languageModel, PARTS } from './language-model.js';

const edge = z.int().min(1).max(4096);

const vision = z
  .object({
    ...{ hidden_size: size.default(1024), num_hidden_layers: layers.default(24), num_channels: channels },
    ...{ num_attention_heads: size.default(16), image_size: edge.default(384), patch_size: edge.default(16) },
    ...{ hidden_act: z.string().default('gelu'), layer_norm_eps: epsilon.default(1e-6) },
    ...{ mlp_ratio: z.number().positive().max(256).default(4), attention_bias: z.boolean().default(true) },
    ...{ projection_dim: size.default(2048), depth: z.int().min(1).max(64).default(2) },
    use_qk_norm: z.literal(false, 'is not known: Python fails with it').default(false),
  })
  .transform((c) => ({
    ...c,
    intermediate_size: Math.trunc(c.hidden_size * c.mlp_ratio),
    vision_use_head: false,
  }));
type Vision = z.output<typeof vision>;

const config = z.object({ text_config: languageModel('llama'), vision_config: vision.prefault({}) });
type Config = z.output<typeof config>;

const NAMES: PreNormNames = {
  ...{ attentionNorm: 'layer_norm1', norm: 'layer_norm2', wide: 'mlp.fc1', narrow: 'mlp.fc2' },
  ...{ query: 'self_attn.q_proj', key: 'self_attn.k_proj', value: 'self_attn.v_proj' },
  output: 'self_attn.projection_layer',
};

function writeEncoder(g: GraphWriter, { vision_config: c, text_config: text }: Config): void {
  const sizes = towerSizes(c);
  const bias = c.attention_bias;
  let x = embeddedBySiglip(g, c);
  for (let i = 0; i < c.num_hidden_layers; i++)
    x = preNormLayer(g, x, {
      ...{ ...sizes, names: NAMES, biases: { query: bias, key: bias, value: bias } },
      at: (part) => `vision_model.encoder.layers.${i}.${part}`,
    });
  const seen = layerNorm(g, x, 'vision_model.post_layernorm', sizes);
  const features = aligned(g, seen, c);
  g.output('image_features', features, 'float32', ['rows', 'features', text.width]);
}

/** One layer to the width of the text, and others of that width behind it. */
function aligned(g: GraphWriter, seen: string, c: Vision): string {
  const to = c.projection_dim;
  let x = linear(g, seen, 'aligner.fc1', { from: c.hidden_size, to });
  for (let i = 0; i < c.depth - 1; i++)
    x = linear(g, activation(g, x, c.hidden_act), `aligner.hidden_layers.${i}`, { from: to, to });
  return x;
}

/** A tower like SigLIP's before Llama; images are made squares with bars. modeling_janus.py */
export const janus = defineFamily({
  modelTypes: ['janus'],
  readers: { prompts: { image: 'janus' } },
  memory: { unmaskedVision: true },
  usualTask: 'image-text-to-text',
  limits: ['It answers about images; what it draws is not served.'],
  inert: [
    { fields: named('vq_config'), reason: 'what draws images is not part of the graphs' },
    { fields: /^/, part: 'vq_config', reason: 'what draws images is not part of the graphs' },
    {
      fields: named('tie_word_embeddings'),
      reason: 'scores have a table of their own: a file without one is refused',
    },
  ],
  config,
  prefixes: [],
  parts: {
    ...PARTS,
    'vision_model.': ['model.vision_model.', 'vision_model.'],
    'aligner.': ['model.aligner.', 'aligner.'],
  },
  heads: {
    'media-chat': {
      ...embeddedDecoderRoles<Config>((c) => c.text_config),
      vision_encoder: writeEncoder,
    },
  },
});
