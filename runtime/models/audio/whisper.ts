import { named } from '../inert-fields.js';
import * as z from 'zod';
import { defineFamily } from '../family.js';
import { convolution } from '../layers/convolution.js';
import { tableScores } from '../layers/linear.js';
import { layerNorm } from '../layers/norm.js';
import { preNormLayer, type PreNormNames } from '../layers/pre-norm-layer.js';
import { sourceDecoderRoles } from '../bases/encoder-decoder/encoder-decoder-heads.js';
import type { SourceDecoder } from '../layers/cross-decoder.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { labelCount, labels, layers, size } from '../config-fields.js';
import { bartModel } from '../bases/encoder-decoder/bart-decoder.js';
import { learned } from '../bases/encoder-decoder/positions.js';
import { audioLabels } from '../bases/audio/audio-heads.js';

const config = z.object({
  ...labels,
  ...{ vocab_size: size.default(51865), num_mel_bins: size.default(80), d_model: size.default(384) },
  ...{ encoder_layers: layers.default(4), decoder_layers: layers.default(4) },
  ...{ encoder_attention_heads: size.default(6), decoder_attention_heads: size.default(6) },
  ...{ encoder_ffn_dim: size.default(1536), decoder_ffn_dim: size.default(1536) },
  activation_function: z.string().default('gelu'),
  max_source_positions: size.default(1500),
  max_target_positions: size.default(448),
  tie_word_embeddings: z.boolean().default(true),
  use_weighted_layer_sum: z.boolean().default(false),
  classifier_proj_size: size.default(256),
});
type Config = z.output<typeof config>;

const NAMES: PreNormNames = {
  attentionNorm: 'self_attn_layer_norm',
  query: 'self_attn.q_proj',
  key: 'self_attn.k_proj',
  value: 'self_attn.v_proj',
  output: 'self_attn.out_proj',
  norm: 'final_layer_norm',
  wide: 'fc1',
  narrow: 'fc2',
};

const EPSILON = 1e-5;

/** Frames of the spectrogram that make a state. */
const FRAMES = 2;

const at = (name: string) => `model.encoder.${name}`;

/** What the encoder is made of. */
export type WhisperEncoder = Pick<
  Config,
  | ('d_model' | 'num_mel_bins' | 'max_source_positions' | 'activation_function')
  | ('encoder_layers' | 'encoder_attention_heads' | 'encoder_ffn_dim')
>;

/** A step for every two frames of float32 [rows, filters, frames], by two convolutions: [rows, steps, width]. */
export function halvedFrames(
  g: GraphWriter,
  features: Value,
  { at: named, filters, width }: { at(name: string): string; filters: number; width: number },
): Value {
  const narrowed = [
    { name: 'conv1', from: filters, stride: 1 },
    { name: 'conv2', from: width, stride: FRAMES },
  ].reduce((x, { name, from, stride }) => {
    const size = { from, to: width, kernel: [3], stride: [stride], padding: [1] };
    return g.node('Gelu', [convolution(g, x, named(name), size)]);
  }, features);
  return g.node('Transpose', [narrowed], { perm: [0, 2, 1] });
}

/** What the first layer reads of `input_features` [rows, filters, frames] of a window: float32 [rows, steps, width]. */
export function whisperSteps(g: GraphWriter, c: WhisperEncoder): Value {
  const width = c.d_model;
  const frames = FRAMES * c.max_source_positions;
  const spectrogram = g.input('input_features', 'float32', ['rows', c.num_mel_bins, frames]);
  const steps = halvedFrames(g, spectrogram, { at, filters: c.num_mel_bins, width });
  const positions = g.weight(at('embed_positions.weight'), [c.max_source_positions, width]);
  return g.node('Add', [steps, positions]);
}

/** What each layer reads, and what the last one gives. */
export function whisperLayers(g: GraphWriter, steps: Value, c: WhisperEncoder): Value[] {
  const states = [steps];
  for (let i = 0; i < c.encoder_layers; i++)
    states.push(
      preNormLayer(g, states.at(-1)!, {
        ...{ width: c.d_model, inner: c.encoder_ffn_dim, heads: c.encoder_attention_heads, epsilon: EPSILON },
        ...{ act: c.activation_function, names: NAMES, biases: { key: false } },
        at: (part) => at(`layers.${i}.${part}`),
      }),
    );
  return states;
}

/** The norm behind the layers. */
export const whisperNorm = (g: GraphWriter, x: Value, { d_model: width }: WhisperEncoder): Value =>
  layerNorm(g, x, at('layer_norm'), { width, epsilon: EPSILON });

/** What the encoder reads, and what each layer gives; the norm behind the last one included. */
export function whisperStates(g: GraphWriter, c: WhisperEncoder): Value[] {
  const states = whisperLayers(g, whisperSteps(g, c), c);
  return [...states.slice(0, -1), whisperNorm(g, states.at(-1)!, c)];
}

/** BART's, whose keys have no bias here. */
function decoderOf(c: Config): SourceDecoder {
  const model = bartModel({
    ...{ width: c.d_model, vocabulary: c.vocab_size, answerVocabulary: c.vocab_size },
    layers: { encoder: c.encoder_layers, decoder: c.decoder_layers },
    heads: { encoder: c.encoder_attention_heads, decoder: c.decoder_attention_heads },
    inner: { encoder: c.encoder_ffn_dim, decoder: c.decoder_ffn_dim },
    ...{ act: c.activation_function, normsBefore: true, embeddingNorm: false, embedScale: 1 },
    ...{ tie: c.tie_word_embeddings, keyBias: false },
    positions: learned({ rows: c.max_target_positions, width: c.d_model, offset: 0 }),
  });
  const names = { own: 'proj_out.weight', tied: 'model.decoder.embed_tokens.weight' };
  const size = { rows: c.vocab_size, width: c.d_model, tie: c.tie_word_embeddings };
  const scores = (g: GraphWriter, x: Value) => tableScores(g, x, names, size);
  return { ...model, tellsAttention: true, scores };
}

/** modeling_whisper.py */
export const whisper = defineFamily({
  modelTypes: ['whisper'],
  inert: [{ fields: named('median_filter_width'), reason: 'times of words' }],
  readers: { extractor: 'Whisper', audio: 'whisper' },
  limits: ['Times of words need `alignment_heads` in generation_config.json.'],
  usualTask: 'automatic-speech-recognition',
  config,
  prefixes: ['model.'],
  heads: {
    'speech-seq2seq': {
      encoder_model: (g, c: Config) =>
        g.output('last_hidden_state', whisperStates(g, c).at(-1)!, 'float32', [
          ...['rows', c.max_source_positions, c.d_model],
        ]),
      ...sourceDecoderRoles(decoderOf),
    },
    'audio-classification': {
      model: (g, c: Config) =>
        audioLabels(g, whisperStates(g, c), {
          ...{ width: c.d_model, projected: c.classifier_proj_size, labels: labelCount(c) },
          weighted: c.use_weighted_layer_sum,
        }),
    },
  },
});
