import * as z from 'zod';
import { defineFamily } from '../family.js';
import { embeddedDecoderRoles } from '../bases/decoder/decoder-heads.js';
import { GraphError } from '../writer/errors.js';
import type { GraphWriter } from '../writer/graph-writer.js';
import { layers, size } from '../config-fields.js';
import { whisperStates } from '../audio/whisper.js';
import { AUDIO_PARTS, wholeLanguageModel } from './language-model.js';
import { projected } from './projector.js';

const audio = z
  .object({
    model_type: z.literal('voxtral_encoder').default('voxtral_encoder'),
    hidden_size: size.default(1280),
    intermediate_size: size.default(5120),
    num_hidden_layers: layers.default(32),
    num_attention_heads: size.default(20),
    num_mel_bins: size.default(128),
    max_source_positions: size.default(1500),
    activation_function: z.string().default('gelu'),
  })
  .transform((c) => ({
    ...{ d_model: c.hidden_size, encoder_layers: c.num_hidden_layers },
    ...{ encoder_attention_heads: c.num_attention_heads, encoder_ffn_dim: c.intermediate_size },
    ...{ num_mel_bins: c.num_mel_bins, max_source_positions: c.max_source_positions },
    activation_function: c.activation_function,
  }));

/** Fields of the language model that Python's class gives others than those of Llama's. */
const TEXT = {
  ...{ vocab_size: 131_072, hidden_size: 3072, intermediate_size: 8192, num_hidden_layers: 30 },
  ...{ num_key_value_heads: 8, head_dim: 128, max_position_embeddings: 131_072 },
  ...{ rms_norm_eps: 1e-5, rope_theta: 1e8 },
};

const config = z.object({
  text_config: z.preprocess(
    (given) => ({ ...TEXT, ...(given as object | undefined) }),
    wholeLanguageModel('llama'),
  ),
  audio_config: audio.prefault({}),
  projector_hidden_act: z.string().default('gelu'),
});
type Config = z.output<typeof config>;

/** Neighbouring steps of a window of audio are joined to one feature. */
function writeEncoder(g: GraphWriter, c: Config): void {
  const { audio_config: tower, text_config: text } = c;
  const joined = tower.encoder_ffn_dim;
  if ((tower.max_source_positions * tower.d_model) % joined !== 0)
    throw new GraphError('config.json: audio_config has steps that make no whole number of features');
  const states = whisperStates(g, tower).at(-1)!;
  const steps = g.node('Reshape', [states, g.ints([-1, joined])]);
  const sizes = { from: joined, to: text.width, bias: false };
  const features = projected(g, steps, { ...sizes, act: c.projector_hidden_act });
  g.output('audio_features', features, 'float32', ['features', text.width]);
}

/** A language model that reads audio clips through Whisper's encoder. modeling_voxtral.py */
export const voxtral = defineFamily({
  modelTypes: ['voxtral'],
  readers: { prompts: { audio: 'voxtral' } },
  usualTask: 'audio-text-to-text',
  config,
  prefixes: [],
  parts: AUDIO_PARTS,
  heads: {
    'media-chat': {
      ...embeddedDecoderRoles<Config>((c) => c.text_config),
      audio_encoder: writeEncoder,
    },
  },
});
