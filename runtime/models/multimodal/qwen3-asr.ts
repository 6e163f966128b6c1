import * as z from 'zod';
import { embeddedDecoderRoles } from '../bases/decoder/decoder-heads.js';
import { layers, size } from '../config-fields.js';
import { defineFamily } from '../family.js';
import { activation } from '../layers/activation.js';
import { convolution2d } from '../layers/convolution.js';
import { linear } from '../layers/linear.js';
import { layerNorm } from '../layers/norm.js';
import { preNormLayer, type PreNormNames } from '../layers/pre-norm-layer.js';
import { sinusoids } from '../layers/sinusoids.js';
import { GraphError } from '../writer/errors.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { ELEMENTS } from '../writer/tensors.js';
import { wholeLanguageModel, TOWER_PARTS } from './language-model.js';

/** What Python's class takes for a language model that is left out. */
const TEXT = {
  ...{ hidden_size: 2048, intermediate_size: 6144, num_hidden_layers: 28, num_attention_heads: 16 },
  ...{ num_key_value_heads: 8, head_dim: 128, max_position_embeddings: 65_536, tie_word_embeddings: true },
};

const audio = z.object({
  model_type: z.literal('qwen3_asr_encoder').default('qwen3_asr_encoder'),
  ...{ num_mel_bins: size.default(128), d_model: size.min(4).default(1024) },
  ...{ encoder_layers: layers.default(24), encoder_attention_heads: size.default(16) },
  ...{ encoder_ffn_dim: size.default(4096), activation_function: z.string().default('gelu') },
  // The processor counts 13 features for each piece of 100 frames.
  n_window: z.literal(50, 'pieces of other than 100 frames are not known').default(50),
  ...{ n_window_infer: z.int().min(100).max(1_000_000).default(800), output_dim: size.default(3584) },
  downsample_hidden_size: size.default(480),
  max_position_embeddings: z.int().min(13, 'is less than what a piece has').default(13),
});
type Audio = z.output<typeof audio>;

const config = z.object({ text_config: wholeLanguageModel('qwen3', TEXT), audio_config: audio.prefault({}) });
type Config = z.output<typeof config>;

/** Frames of a piece of audio, and the steps that convolutions leave of it. */
const [FRAMES, STEPS] = [100, 13];
/** Of norms without a setting. */
const EPSILON = 1e-5;

const NAMES: PreNormNames = {
  attentionNorm: 'self_attn_layer_norm',
  ...{ query: 'self_attn.q_proj', key: 'self_attn.k_proj', value: 'self_attn.v_proj' },
  output: 'self_attn.out_proj',
  ...{ norm: 'final_layer_norm', wide: 'fc1', narrow: 'fc2' },
};

const at = (name: string) => `audio_tower.${name}`;

/** What convolutions leave of each piece, at its positions: float32 [pieces, steps, width]. */
function steps(g: GraphWriter, c: Audio): Value {
  const { num_mel_bins: filters, d_model: width, downsample_hidden_size: channels } = c;
  const features = g.input('input_features', 'float32', [1, filters, 'frames']);
  const pieces = g.node('Reshape', [features, g.ints([filters, -1, FRAMES])]);
  let x = g.node('Unsqueeze', [g.node('Transpose', [pieces], { perm: [1, 0, 2] }), g.ints([1])]);
  for (const [i, from] of [1, channels, channels].entries())
    x = g.node('Gelu', [
      convolution2d(g, x, at(`conv2d${i + 1}`), { from, to: channels, kernel: 3, stride: 2 }),
    ]);
  const left = [1, 2, 3].reduce((count) => Math.floor((count + 1) / 2), filters);
  const flat = g.node('Reshape', [
    g.node('Transpose', [x], { perm: [0, 3, 1, 2] }),
    g.ints([0, STEPS, channels * left]),
  ]);
  const found = linear(g, flat, at('conv_out'), { from: channels * left, to: width, bias: false });
  const slower = Math.log(10_000) / (width / 2 - 1);
  const numbers = g.ints(Array.from({ length: STEPS }, (_, i) => i));
  const positions = sinusoids(g, numbers, width, (i) => Math.exp(-slower * i));
  return g.node('Add', [found, positions]);
}

/** Steps in windows, which see themselves alone; the last one is filled up with steps that nobody sees. */
function inWindows(g: GraphWriter, x: Value, count: Value, { d_model: width, n_window_infer }: Audio) {
  const window = STEPS * Math.floor(n_window_infer / FRAMES);
  const flat = g.node('Reshape', [x, g.ints([-1, width])]);
  const own = g.node('Slice', [flat, g.ints([0]), count, g.ints([0])]);
  const rest = g.node('Mod', [g.node('Neg', [count]), g.ints([window])]);
  const filled = g.node('Pad', [own, g.node('Concat', [g.ints([0, 0]), rest, g.ints([0])], { axis: 0 })]);
  const all = g.node('Squeeze', [g.node('Add', [count, rest])]);
  const positions = g.node('Range', [g.ints([0], []), all, g.ints([1], [])]);
  const seen = g.node('Cast', [g.node('Less', [positions, count])], { to: ELEMENTS.int32 });
  return {
    states: g.node('Reshape', [filled, g.ints([-1, window, width])]),
    padding: g.node('Reshape', [seen, g.ints([-1, window])]),
  };
}

/**
 * `audio_features` [features, width] of an audio clip, whose frames are whole pieces; `step_count` int64 [1] says how many of their steps are
 * audio and no silence behind it.
 */
function writeEncoder(g: GraphWriter, { audio_config: c, text_config: text }: Config): void {
  const { d_model: width, output_dim: to } = c;
  if (to !== text.width)
    throw new GraphError(
      `config.json: audio_config.output_dim is ${to}, and the language model reads ${text.width}`,
    );
  const count = g.input('step_count', 'int64', [1]);
  const { states, padding } = inWindows(g, steps(g, c), count, c);
  let x = states;
  for (let layer = 0; layer < c.encoder_layers; layer++)
    x = preNormLayer(g, x, {
      ...{ width, inner: c.encoder_ffn_dim, heads: c.encoder_attention_heads, epsilon: EPSILON },
      ...{ act: c.activation_function, names: NAMES, padding },
      at: (name) => at(`layers.${layer}.${name}`),
    });
  const flat = g.node('Reshape', [x, g.ints([-1, width])]);
  const own = g.node('Slice', [flat, g.ints([0]), count, g.ints([0])]);
  const normed = layerNorm(g, own, at('ln_post'), { width, epsilon: EPSILON });
  const part = (name: string) => `multi_modal_projector.${name}`;
  const wide = activation(
    g,
    linear(g, normed, part('linear_1'), { from: width, to: width }),
    c.activation_function,
  );
  const features = linear(g, wide, part('linear_2'), { from: width, to });
  g.output('audio_features', features, 'float32', ['features', to]);
}

/** A language model that reads audio clips, in pieces of a second and windows of several. modeling_qwen3_asr.py */
export const qwen3Asr = defineFamily({
  modelTypes: ['qwen3_asr'],
  readers: { prompts: { audio: 'qwen3-asr' } },
  usualTask: 'audio-text-to-text',
  config,
  prefixes: [],
  parts: TOWER_PARTS,
  heads: {
    'media-chat': {
      ...embeddedDecoderRoles<Config>((c) => c.text_config),
      audio_encoder: writeEncoder,
    },
  },
});
