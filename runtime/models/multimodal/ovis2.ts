import * as z from 'zod';
import { embeddedDecoderRoles } from '../bases/decoder/decoder-heads.js';
import { channels } from '../bases/vision/vit-config.js';
import { epsilon, layers, size } from '../config-fields.js';
import { defineFamily } from '../family.js';
import { named } from '../inert-fields.js';
import { linear } from '../layers/linear.js';
import { layerNorm, rmsNorm } from '../layers/norm.js';
import { patches, imageInput } from '../layers/patch-embed.js';
import { preNormLayer, type PreNormNames } from '../layers/pre-norm-layer.js';
import { gatedFeedForward } from '../layers/swiglu.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { joinedNeighbours } from './idefics3.js';
import { languageModel } from './language-model.js';
import { small } from './qwen2-vl/vision.js';

const vision = z
  .object({
    ...{ hidden_size: size.default(1024), intermediate_size: size.default(2816) },
    ...{ num_hidden_layers: layers.default(24), num_attention_heads: size.default(8) },
    ...{ num_channels: channels, image_size: small.max(2 ** 14).default(224), patch_size: small.default(14) },
    ...{ rms_norm_eps: epsilon.default(1e-5), hidden_act: z.string().default('silu') },
    ...{ qkv_bias: z.boolean().default(false), mlp_bias: z.boolean().default(false) },
    ...{ vocab_size: size.default(16_384), hidden_stride: small.default(1) },
    num_visual_indicator_tokens: small.default(5),
    tokenize_function: z
      .enum(['softmax', 'st_argmax'], 'what draws its words at random is not known')
      .default('softmax'),
  })
  .refine((c) => c.num_visual_indicator_tokens < c.vocab_size, {
    ...{ message: 'is not less than vocab_size', path: ['num_visual_indicator_tokens'] },
  })
  .refine((c) => Math.floor(c.image_size / c.patch_size) % c.hidden_stride === 0, {
    ...{
      message: 'does not part the patches of an edge: Python fails at each image',
      path: ['hidden_stride'],
    },
  });
type Vision = z.output<typeof vision>;

const config = z
  .object({
    text_config: languageModel('qwen2'),
    vision_config: vision.prefault({}),
    hidden_size: size.default(1536),
  })
  .refine((c) => c.hidden_size === c.text_config.width, {
    ...{ message: 'is not that of text_config', path: ['hidden_size'] },
  });
type Config = z.output<typeof config>;

const NAMES: PreNormNames = {
  attentionNorm: 'rms_norm1',
  ...{ query: 'attention.q_proj', key: 'attention.k_proj', value: 'attention.v_proj' },
  ...{ output: 'attention.out_proj', norm: 'rms_norm2', wide: 'ffn.up_proj', narrow: 'ffn.down_proj' },
};

const TRANSFORMER = 'vision_tower.transformer';

/** float32 [rows, patches, width] */
function states(g: GraphWriter, c: Vision): Value {
  const { hidden_size: width, rms_norm_eps: epsilon, qkv_bias: bias, patch_size: patch } = c;
  const side = Math.floor(c.image_size / patch);
  const normed = (x: Value, name: string) => rmsNorm(g, x, `${TRANSFORMER}.${name}`, { width, epsilon });
  const pixels = imageInput(g, c.num_channels, [c.image_size, c.image_size]);
  const { tokens } = patches(g, pixels, `${TRANSFORMER}.embeddings.patch_embedding`, {
    ...{ channels: c.num_channels, width, patch: [patch, patch] },
  });
  const positions = g.weight(`${TRANSFORMER}.embeddings.position_embedding.weight`, [side * side, width]);
  let x = g.node('Add', [normed(tokens, 'embeddings.rms_norm'), positions]);
  for (let i = 0; i < c.num_hidden_layers; i++) {
    const at = (name: string) => `${TRANSFORMER}.encoder.layers.${i}.${name}`;
    const gated = { width, inner: c.intermediate_size, act: c.hidden_act, bias: c.mlp_bias };
    x = preNormLayer(g, x, {
      ...{ ...gated, heads: c.num_attention_heads, epsilon, names: NAMES, at, norm: rmsNorm },
      ...{ bias: undefined, biases: { query: bias, key: bias, value: bias, output: bias } },
      feedForward: (_, read) => gatedFeedForward(g, read, (name) => at(`ffn.${name}`), gated),
    });
  }
  return normed(x, 'rms_norm');
}

/** Neighbours side by side. */
function joined(
  g: GraphWriter,
  x: Value,
  { hidden_size: width, hidden_stride: factor, ...c }: Vision,
): Value {
  const side = Math.floor(c.image_size / c.patch_size);
  return factor === 1 ? x : joinedNeighbours(g, x, { grid: g.ints([side, side]), factor, width });
}

/** Vectors of words that images are made of, behind those of the words around them: float32 [rows, features, width]. */
function writeEncoder(g: GraphWriter, { vision_config: c, text_config: { width } }: Config): void {
  const { vocab_size: vocabulary, num_visual_indicator_tokens: around } = c;
  const words = vocabulary - around;
  const from = c.hidden_size * c.hidden_stride ** 2;
  const product = linear(g, joined(g, states(g, c), c), 'vision_tower.head_linear', {
    ...{ from, to: words, bias: false },
  });
  const scores = layerNorm(g, product, 'vision_tower.head_norm', { width: words, epsilon: 1e-5 });
  const table = g.weight('visual_embeddings_table.weight', [vocabulary, width]);
  const rows = g.node('Shape', [scores], { start: 0, end: 1 });
  const ofWords = g.node('Slice', [table, g.ints([0]), g.ints([words]), g.ints([0])]);
  const found =
    c.tokenize_function === 'softmax'
      ? g.node('MatMul', [g.node('Softmax', [scores], { axis: -1 }), ofWords])
      : g.node('Gather', [ofWords, g.node('ArgMax', [scores], { axis: -1, keepdims: 0 })], { axis: 0 });
  const marks = g.node('Slice', [table, g.ints([words]), g.ints([vocabulary]), g.ints([0])]);
  const shape = g.node('Concat', [rows, g.ints([around, width])], { axis: 0 });
  const features = g.node('Concat', [g.node('Expand', [marks, shape]), found], { axis: 1 });
  g.output('image_features', features, 'float32', ['rows', 'features', width]);
}

/** An encoder whose states become words of a vocabulary of its own, before Qwen 2. modeling_ovis2.py */
export const ovis2 = defineFamily({
  modelTypes: ['ovis2'],
  readers: { prompts: { image: 'ovis2' } },
  memory: { unmaskedVision: true },
  inert: [
    {
      fields: named('vocab_size'),
      reason: 'scores are those of the head or of the table in the file, whose size is text_config’s',
    },
  ],
  usualTask: 'image-text-to-text',
  config,
  prefixes: [],
  parts: {
    'model.': ['model.language_model.', 'language_model.model.', 'language_model.'],
    'lm_head.': ['lm_head.', 'language_model.lm_head.'],
    'vision_tower.': ['model.vision_tower.', 'vision_tower.'],
    'visual_embeddings_table.': ['model.visual_embeddings_table.', 'visual_embeddings_table.'],
  },
  heads: {
    'media-chat': {
      ...embeddedDecoderRoles<Config>((c) => c.text_config),
      vision_encoder: writeEncoder,
    },
  },
});
