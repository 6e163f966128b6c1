import * as z from 'zod';
import { defineFamily } from '../family.js';
import { embeddedDecoderRoles } from '../bases/decoder/decoder-heads.js';
import { layerNorm, rmsNorm } from '../layers/norm.js';
import { imageInput, tokensFrom } from '../layers/patch-embed.js';
import { preNormLayer, type PreNormNames } from '../layers/pre-norm-layer.js';
import { GraphError } from '../writer/errors.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { epsilon, layers, size } from '../config-fields.js';
import { edges, vitConfig } from '../bases/vision/vit-config.js';
import { dinov2Embeddings } from '../vision/dinov2/family.js';
import { joinedNeighbours } from './idefics3.js';
import { languageModel, PARTS } from './language-model.js';
import { projected } from './projector.js';

const { num_channels } = vitConfig;
export const internVlVision = z.object({
  ...{ num_channels, hidden_size: size.default(1024), num_hidden_layers: layers.default(24) },
  ...{ num_attention_heads: size.default(16), intermediate_size: size.default(4096) },
  ...{ attention_bias: z.boolean().default(false), use_qk_norm: z.boolean().default(false) },
  hidden_act: z.string().default('gelu'),
  norm_type: z.enum(['layer_norm', 'rms_norm']).default('layer_norm'),
  layer_norm_eps: epsilon.default(1e-6),
  image_size: edges.default([448, 448]),
  patch_size: edges.default([14, 14]),
  use_absolute_position_embeddings: z.literal(true, 'images without places are not known').default(true),
  use_mean_pooling: z.boolean().default(true),
});

/** Positions are those of squares. */
export const squaresOnly = <S extends z.ZodType<{ image_size: readonly [number, number] }>>(schema: S) =>
  schema.refine((c) => c.image_size[0] === c.image_size[1], {
    ...{ message: 'positions of images that are no squares are not known', path: ['image_size'] },
  });
type VisionConfig = z.output<typeof internVlVision>;

/** How patches become features. */
export const internVlJoining = {
  downsample_ratio: z.number().positive().max(1).default(0.5),
  projector_hidden_act: z.string().default('gelu'),
  vision_feature_layer: z.literal(-1, 'Python reads no other layer than the last one').default(-1),
  vision_feature_select_strategy: z
    .literal('default', 'Python makes a square of features without the class only')
    .default('default'),
};
const config = z.object({
  text_config: languageModel('qwen2'),
  vision_config: squaresOnly(internVlVision).prefault({}),
  ...internVlJoining,
});
export type InternVlConfig = z.output<typeof config>;

/** Names of the encoder's layers. */
export interface InternVlNames {
  layers: string;
  parts: PreNormNames;
  scales: readonly [string, string];
}

const NAMES: InternVlNames = {
  layers: 'layer',
  parts: {
    attentionNorm: 'layernorm_before',
    ...{ query: 'attention.q_proj', key: 'attention.k_proj', value: 'attention.v_proj' },
    output: 'attention.projection_layer',
    ...{ norm: 'layernorm_after', wide: 'mlp.fc1', narrow: 'mlp.fc2' },
  },
  scales: ['lambda_1', 'lambda_2'],
};

/** Of the projector's norm. */
const EPSILON = 1e-5;

function statesOf(g: GraphWriter, x: Value, c: VisionConfig, names: InternVlNames): Value {
  const bias = c.attention_bias;
  let states = x;
  for (let layer = 0; layer < c.num_hidden_layers; layer++)
    states = preNormLayer(g, states, {
      ...{ width: c.hidden_size, inner: c.intermediate_size, heads: c.num_attention_heads },
      ...{ epsilon: c.layer_norm_eps, act: c.hidden_act, names: names.parts },
      at: (part) => `vision_tower.encoder.${names.layers}.${layer}.${part}`,
      norm: c.norm_type === 'rms_norm' ? rmsNorm : undefined,
      headNorms: c.use_qk_norm ? ['attention.q_norm', 'attention.k_norm'] : undefined,
      biases: { query: bias, key: bias, value: bias },
      scales: names.scales,
    });
  if (c.use_mean_pooling) return states;
  return layerNorm(g, states, 'vision_tower.layernorm', { width: c.hidden_size, epsilon: c.layer_norm_eps });
}

/** Features of images of one size, whose neighbours are joined: float32 [rows, features, width]. */
export function writeInternVlEncoder(g: GraphWriter, c: InternVlConfig, names = NAMES): void {
  const { vision_config: vision, text_config: text } = c;
  const factor = Math.trunc(1 / c.downsample_ratio);
  if (factor * c.downsample_ratio !== 1)
    throw new GraphError(
      `config.json: downsample_ratio ${c.downsample_ratio} joins no whole number of patches`,
    );
  const pixels = imageInput(g, vision.num_channels);
  const { tokens, grid } = dinov2Embeddings(g, vision, 'vision_tower.', pixels);
  const seen = tokensFrom(g, statesOf(g, tokens, vision, names), 1);
  const joined = joinedNeighbours(g, seen, { grid, factor, width: vision.hidden_size });
  const from = vision.hidden_size * factor * factor;
  const normed = layerNorm(g, joined, 'multi_modal_projector.layer_norm', { width: from, epsilon: EPSILON });
  const features = projected(g, normed, { from, to: text.width, act: c.projector_hidden_act, bias: true });
  g.output('image_features', features, 'float32', ['rows', 'features', text.width]);
}

/** A language model that reads squares of images and frames. modeling_internvl.py */
export const internvl = defineFamily({
  modelTypes: ['internvl'],
  readers: { prompts: { image: 'internvl', video: 'internvl' } },
  usualTask: 'image-text-to-text',
  config,
  prefixes: [],
  parts: PARTS,
  heads: {
    'media-chat': {
      ...embeddedDecoderRoles<InternVlConfig>((c) => c.text_config),
      vision_encoder: (g, c: InternVlConfig) => writeInternVlEncoder(g, c),
    },
  },
});
