import * as z from 'zod';
import { halvedFrames } from '../audio/whisper.js';
import { embeddedDecoderRoles } from '../bases/decoder/decoder-heads.js';
import { equalHeads, layers, size } from '../config-fields.js';
import { defineFamily } from '../family.js';
import { headWidth } from '../layers/head-sizes.js';
import { layerNorm } from '../layers/norm.js';
import { preNormLayer, type PreNormNames } from '../layers/pre-norm-layer.js';
import { rotary, rotate } from '../layers/rope.js';
import { positionsOf } from '../layers/text-inputs.js';
import { rotaryConfig } from '../layers/rope-frequencies.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { wholeLanguageModel, TOWER_PARTS, withTie } from './language-model.js';
import { projected } from './projector.js';

/** Steps that become one feature. */
const JOINED = 4;

const encoder = z
  .object({
    model_type: z.literal('glmasr_encoder').default('glmasr_encoder'),
    ...rotaryConfig,
    max_position_embeddings: rotaryConfig.max_position_embeddings.default(1500),
    partial_rotary_factor: z.number().positive().max(1).default(0.5),
    ...{ hidden_size: size.default(1280), intermediate_size: size.default(5120) },
    ...{ num_hidden_layers: layers.default(32), num_attention_heads: size.default(20) },
    ...{ num_key_value_heads: size.nullish(), head_dim: size.nullish() },
    ...{ num_mel_bins: size.default(128), hidden_act: z.string().default('gelu') },
  })
  .refine(...equalHeads)
  .refine((c) => c.head_dim == null || c.head_dim * c.num_attention_heads === c.hidden_size, {
    ...{ message: 'other than of equal parts of hidden_size is not known', path: ['head_dim'] },
  })
  // Python counts tokens by it, whatever the file says.
  .refine((c) => c.intermediate_size === JOINED * c.hidden_size, {
    ...{ message: `other than ${JOINED} times hidden_size is not known`, path: ['intermediate_size'] },
  });
type Encoder = z.output<typeof encoder>;

/** Fields of the language model that Python's class gives others than those of Llama's. */
const TEXT = {
  ...{ vocab_size: 59_264, hidden_size: 2048, intermediate_size: 6144, num_hidden_layers: 28 },
  ...{ num_attention_heads: 16, num_key_value_heads: 4, max_position_embeddings: 8192 },
  ...{ rms_norm_eps: 1e-5, rope_theta: 10_000 },
};

const withText = (given: Readonly<Record<string, unknown>>): object => ({
  ...given,
  text_config: { ...TEXT, ...(given['text_config'] as object | undefined) },
});

const fields = z.object({
  text_config: wholeLanguageModel('llama'),
  audio_config: encoder.prefault({}),
  projector_hidden_act: z.string().default('gelu'),
});
const config = z.preprocess((given) => withTie(withText(given as Record<string, unknown>)), fields);
type Config = z.output<typeof fields>;

const NAMES: PreNormNames = {
  attentionNorm: 'input_layernorm',
  ...{ query: 'self_attn.q_proj', key: 'self_attn.k_proj', value: 'self_attn.v_proj' },
  output: 'self_attn.o_proj',
  ...{ norm: 'post_attention_layernorm', wide: 'mlp.fc1', narrow: 'mlp.fc2' },
};

/** Of norms without a setting. */
const EPSILON = 1e-5;

const at = (name: string) => `audio_tower.${name}`;

/** Half as many steps as frames: float32 [1, steps, width]. */
function steps(g: GraphWriter, { num_mel_bins: filters, hidden_size: width }: Encoder): Value {
  const features = g.input('input_features', 'float32', [1, filters, 'frames']);
  return halvedFrames(g, features, { at, filters, width });
}

/** Silence behind a clip is heard, too, as in Python. */
function states(g: GraphWriter, c: Encoder): Value {
  const [width, heads] = [c.hidden_size, c.num_attention_heads];
  let x = steps(g, c);
  const each = headWidth(width, heads);
  const angles = rotary(g, g.node('Unsqueeze', [positionsOf(g, x), g.ints([0])]), c, each);
  for (let layer = 0; layer < c.num_hidden_layers; layer++)
    x = preNormLayer(g, x, {
      ...{ width, inner: c.intermediate_size, heads, epsilon: EPSILON, act: c.hidden_act },
      ...{ names: NAMES, biases: { key: false } },
      turn: (value) => rotate(g, value, angles, { heads, width: each }),
      at: (name) => at(`layers.${layer}.${name}`),
    });
  return layerNorm(g, x, at('norm'), { width, epsilon: EPSILON });
}

/** `audio_features` [features, width] of one window of audio. `feature_count` int64 [1] says how many are no silence behind it. */
function writeEncoder(g: GraphWriter, { audio_config: c, text_config: text, projector_hidden_act }: Config) {
  const count = g.input('feature_count', 'int64', [1]);
  const joined = JOINED * c.hidden_size;
  const cells = g.node('Reshape', [states(g, c), g.ints([-1, joined])]);
  const own = g.node('Slice', [cells, g.ints([0]), count, g.ints([0])]);
  const sizes = { from: joined, inner: 2 * text.width, to: text.width, bias: true };
  const features = projected(g, own, { ...sizes, act: projector_hidden_act });
  g.output('audio_features', features, 'float32', ['features', text.width]);
}

/** A language model that reads audio through an encoder like Whisper's with rotary positions. modeling_glmasr.py */
export const glmAsr = defineFamily({
  modelTypes: ['glmasr'],
  readers: { prompts: { audio: 'glmasr' } },
  limits: [
    'A conversation holds one recording, as in Python; of a longer one than max_audio_len the end is cut off.',
  ],
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
