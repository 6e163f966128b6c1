import { defineFamily } from '../../family.js';
import { convolution } from '../../layers/convolution.js';
import { hifiGan } from '../../layers/hifi-gan.js';
import { lookedUp } from '../../layers/linear.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import { ELEMENTS } from '../../writer/tensors.js';
import { vitsConfig, type VitsConfig } from './config.js';
import { logDurations } from './durations.js';
import { speechLatents } from './flow.js';
import { letterStats, textStates, turned } from './text-encoder.js';
import { ofVoice, type VitsVoice } from './voice.js';

/** The voice by its number; their count stands for none of them. Undefined for a model of one voice. */
function voiceOf(g: GraphWriter, c: VitsConfig): VitsVoice | undefined {
  const { num_speakers: rows, speaker_embedding_size: width } = c;
  if (rows === 1) return undefined;
  const id = g.input('speaker_id', 'int64', [1]);
  const known = g.node('Min', [id, g.ints([rows - 1])]);
  const vector = lookedUp(g, known, 'embed_speaker.weight', { rows, width });
  const given = g.node('Cast', [g.node('Less', [id, g.ints([rows])])], { to: ELEMENTS.float32 });
  return { vector: g.node('Unsqueeze', [vector, g.ints([2])]), given };
}

/**
 * `input_ids` [1, letters], `duration_noise` [1, 2, letters] where durations are drawn, `speaker_id` [1] of several voices ->
 * `durations` [1, letters], whole numbers of frames; `prior_means` and `prior_log_variances` [1, letters, flow_size].
 */
function writeText(g: GraphWriter, c: VitsConfig): void {
  const ids = g.input('input_ids', 'int64', [1, 'letters']);
  const states = textStates(g, ids, c);
  const voice = voiceOf(g, c);
  const logs = logDurations(g, turned(g, states), voice, c);
  const slow = g.node('Mul', [g.node('Exp', [logs]), g.scalar(1 / c.speaking_rate)]);
  const durations = g.node('Squeeze', [g.node('Ceil', [slow]), g.ints([1])]);
  g.output('durations', durations, 'float32', [1, 'letters']);
  const parts = g.nodes('Split', [letterStats(g, states, c), g.ints([c.flow_size, c.flow_size])], {
    ...{ outputs: 2, attributes: { axis: 2 } },
  });
  ['prior_means', 'prior_log_variances'].forEach((name, i) =>
    g.output(name, parts[i]!, 'float32', [1, 'letters', c.flow_size]),
  );
}

/** Rows of [1, letters, width] for each frame; one more letter has zeros. */
function ofFrames(g: GraphWriter, name: string, letters: Value, width: number): Value {
  const given = g.input(name, 'float32', [1, 'letters', width]);
  const more = g.node('Concat', [given, g.floats(new Float32Array(width), [1, 1, width])], { axis: 1 });
  return g.node('Gather', [more, letters], { axis: 1 });
}

/**
 * What the other graph gives of letters, `frame_letters` [frames]: the letter of each frame, or their count for none;
 * `noise` [1, frames, flow_size]; `speaker_id` -> `waveform` [1, samples].
 */
function writeAudio(g: GraphWriter, c: VitsConfig): void {
  const width = c.flow_size;
  const letters = g.input('frame_letters', 'int64', ['frames']);
  const means = ofFrames(g, 'prior_means', letters, width);
  const variances = ofFrames(g, 'prior_log_variances', letters, width);
  const noise = g.input('noise', 'float32', [1, 'frames', width]);
  const spread = g.node('Mul', [g.node('Mul', [noise, g.node('Exp', [variances])]), g.scalar(c.noise_scale)]);
  const voice = voiceOf(g, c);
  const latents = speechLatents(g, turned(g, g.node('Add', [means, spread])), voice, c);
  const added =
    voice &&
    ofVoice(g, voice, (vector) =>
      convolution(g, vector, 'decoder.cond', {
        ...{ from: c.speaker_embedding_size, to: c.upsample_initial_channel, kernel: [1] },
      }),
    );
  const audio = hifiGan(g, latents, c, { base: 'decoder.', from: width, lastBias: false, added });
  g.output('waveform', g.node('Squeeze', [audio, g.ints([1])]), 'float32', [1, 'samples']);
}

/** Two graphs, for how much noise is drawn depends on how long letters last. modeling_vits.py; MMS-TTS is the same. */
export const vits = defineFamily({
  modelTypes: ['vits'],
  readers: { audio: 'vits' },
  limits: ['Checkpoints that read phonemes are refused.'],
  usualTask: 'text-to-speech',
  config: vitsConfig,
  prefixes: ['vits.'],
  heads: { speech: { letter_encoder: writeText, letter_decoder: writeAudio } },
});
