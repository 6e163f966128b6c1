import * as z from 'zod';
import { sourceDecoderRoles } from '../bases/encoder-decoder/encoder-decoder-heads.js';
import { bartModel } from '../bases/encoder-decoder/bart-decoder.js';
import { sinesBehindPadding, sinesOfSteps } from '../bases/encoder-decoder/positions.js';
import { layers, size } from '../config-fields.js';
import { defineFamily } from '../family.js';
import { named } from '../inert-fields.js';
import { convolution } from '../layers/convolution.js';
import type { SourceDecoder } from '../layers/cross-decoder.js';
import { gatedChannels } from '../layers/glu.js';
import { tableScores } from '../layers/linear.js';
import { layerNorm } from '../layers/norm.js';
import { preNormLayer, type PreNormNames } from '../layers/pre-norm-layer.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';

/** Python counts the steps of others otherwise than there are. */
const odd = size.refine((kernel) => kernel % 2 === 1, 'kernels of even size are not known');

const config = z.object({
  ...{ vocab_size: size.default(10_000), d_model: size.default(256) },
  ...{ encoder_layers: layers.default(12), decoder_layers: layers.default(6) },
  ...{ encoder_attention_heads: size.default(4), decoder_attention_heads: size.default(4) },
  ...{ encoder_ffn_dim: size.default(2048), decoder_ffn_dim: size.default(2048) },
  activation_function: z.string().default('relu'),
  scale_embedding: z.boolean().default(true),
  pad_token_id: z.int().min(0).default(1),
  conv_kernel_sizes: z.array(odd).min(1).max(16).default([5, 5]),
  conv_channels: size.default(1024),
  ...{ input_feat_per_channel: size.default(80), input_channels: size.default(1) },
  tie_word_embeddings: z.boolean().default(true),
});
type Config = z.output<typeof config>;

const NAMES: PreNormNames = {
  ...{ attentionNorm: 'self_attn_layer_norm', query: 'self_attn.q_proj', key: 'self_attn.k_proj' },
  ...{ value: 'self_attn.v_proj', output: 'self_attn.out_proj' },
  ...{ norm: 'final_layer_norm', wide: 'fc1', narrow: 'fc2' },
};

const EPSILON = 1e-5;

const at = (name: string) => `model.encoder.${name}`;

const scaleOf = (c: Config): number => (c.scale_embedding ? Math.sqrt(c.d_model) : 1);

/** Half as many steps with each convolution, whose channels are gated: float32 [rows, steps, d_model]. */
function stepsOf(g: GraphWriter, c: Config): Value {
  const filters = c.input_feat_per_channel * c.input_channels;
  const features = g.input('input_features', 'float32', ['rows', 'frames', filters]);
  const last = c.conv_kernel_sizes.length - 1;
  const half = c.conv_channels / 2;
  const channels = c.conv_kernel_sizes.reduce(
    (x, kernel, i) => {
      const width = i === last ? c.d_model : half;
      const both = convolution(g, x, at(`conv.conv_layers.${i}`), {
        ...{ from: i === 0 ? filters : half, to: 2 * width, kernel: [kernel], stride: [2] },
        padding: [(kernel - 1) / 2],
      });
      return gatedChannels(g, both, width);
    },
    g.node('Transpose', [features], { perm: [0, 2, 1] }),
  );
  return g.node('Transpose', [channels], { perm: [0, 2, 1] });
}

function encode(g: GraphWriter, c: Config): Value {
  const width = c.d_model;
  const steps = g.node('Mul', [stepsOf(g, c), g.scalar(scaleOf(c))]);
  const sines = sinesOfSteps(g, steps, width, c.pad_token_id);
  let x = sines ? g.node('Add', [steps, sines]) : steps;
  for (let i = 0; i < c.encoder_layers; i++)
    x = preNormLayer(g, x, {
      ...{ width, inner: c.encoder_ffn_dim, heads: c.encoder_attention_heads, epsilon: EPSILON },
      ...{ act: c.activation_function, names: NAMES, at: (part) => at(`layers.${i}.${part}`) },
    });
  return layerNorm(g, x, at('layer_norm'), { width, epsilon: EPSILON });
}

function decoderOf(c: Config): SourceDecoder {
  const [rows, width] = [c.vocab_size, c.d_model];
  const model = bartModel({
    ...{ width, vocabulary: rows, answerVocabulary: rows },
    layers: { encoder: c.encoder_layers, decoder: c.decoder_layers },
    heads: { encoder: c.encoder_attention_heads, decoder: c.decoder_attention_heads },
    inner: { encoder: c.encoder_ffn_dim, decoder: c.decoder_ffn_dim },
    ...{ act: c.activation_function, normsBefore: true, embeddingNorm: false, embedScale: scaleOf(c) },
    ...{ tie: c.tie_word_embeddings, positions: sinesBehindPadding(width, c.pad_token_id) },
  });
  const names = { own: 'lm_head.weight', tied: 'model.decoder.embed_tokens.weight' };
  const tie = c.tie_word_embeddings;
  return { ...model, scores: (g, x) => tableScores(g, x, names, { rows, width, tie }) };
}

/** modeling_speech_to_text.py */
export const speechToText = defineFamily({
  modelTypes: ['speech_to_text'],
  inert: [
    { fields: named('num_conv_layers'), reason: 'as many as conv_kernel_sizes, or Python refuses it' },
    { fields: named('max_(?:source|target)_positions'), reason: 'tables grow with what is read' },
  ],
  readers: { extractor: 'Speech2Text', positions: 'distance' },
  usualTask: 'automatic-speech-recognition',
  config,
  prefixes: ['model.'],
  heads: {
    'speech-seq2seq': {
      encoder_model: (g, c: Config) =>
        g.output('last_hidden_state', encode(g, c), 'float32', ['rows', 'steps', c.d_model]),
      ...sourceDecoderRoles(decoderOf),
    },
  },
});
