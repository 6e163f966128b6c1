import * as z from 'zod';
import { defineFamily } from '../family.js';
import { embeddedDecoderRoles } from '../bases/decoder/decoder-heads.js';
import { linear } from '../layers/linear.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { layers, size } from '../config-fields.js';
import { whisperLayers, whisperNorm, whisperSteps } from '../audio/whisper.js';
import { AUDIO_PARTS, wholeLanguageModel } from './language-model.js';

const audio = z.object({
  model_type: z.literal('qwen2_audio_encoder').default('qwen2_audio_encoder'),
  ...{ num_mel_bins: size.default(128), d_model: size.default(1280), encoder_layers: layers.default(32) },
  ...{ encoder_attention_heads: size.default(20), encoder_ffn_dim: size.default(5120) },
  activation_function: z.string().default('gelu'),
  max_source_positions: size.default(1500),
});

const config = z.object({ text_config: wholeLanguageModel('qwen2'), audio_config: audio.prefault({}) });
type Config = z.output<typeof config>;

/** Steps that become one feature. */
const POOLED = 2;

/**
 * `audio_features` [features, width] of one window of audio. `step_count` int64 [1] says how many steps are audio and no silence behind it,
 * which the others do not see.
 */
function writeEncoder(g: GraphWriter, c: Config): void {
  const { audio_config: tower, text_config: text } = c;
  const { d_model: width } = tower;
  const count = g.input('step_count', 'int64', [1]);
  const until = (x: Value, end: Value) => g.node('Slice', [x, g.ints([0]), end, g.ints([1])]);
  const states = whisperLayers(g, until(whisperSteps(g, tower), count), tower).at(-1)!;
  const pairs = g.node('Div', [count, g.ints([POOLED])]);
  const even = until(states, g.node('Mul', [pairs, g.ints([POOLED])]));
  const cells = g.node('Reshape', [even, g.ints([-1, POOLED, width])]);
  const means = g.node('ReduceMean', [cells, g.ints([1])], { keepdims: 0 });
  const size = { from: width, to: text.width };
  const features = linear(g, whisperNorm(g, means, tower), 'multi_modal_projector.linear', size);
  g.output('audio_features', features, 'float32', ['features', text.width]);
}

/** A language model that reads audio clips through Whisper's encoder, whose steps are halved. modeling_qwen2_audio.py */
export const qwen2Audio = defineFamily({
  modelTypes: ['qwen2_audio'],
  readers: { prompts: { audio: 'qwen2-audio' } },
  limits: ['What is longer than 30 seconds of a recording is cut off, as in Python.'],
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
