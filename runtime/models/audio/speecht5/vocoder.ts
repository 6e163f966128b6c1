import * as z from 'zod';
import { size } from '../../config-fields.js';
import { defineFamily } from '../../family.js';
import { hifiGan, hifiGanConfig } from '../../layers/hifi-gan.js';
import type { GraphWriter } from '../../writer/graph-writer.js';

const config = z.object({
  ...hifiGanConfig,
  model_in_dim: size.default(80),
  // FastSpeech2Conformer's vocoder has the same type, and other defaults.
  upsample_rates: hifiGanConfig.upsample_rates.unwrap(),
  upsample_kernel_sizes: hifiGanConfig.upsample_kernel_sizes.unwrap(),
  normalize_before: z.boolean().default(true),
});
type Config = z.output<typeof config>;

/** `spectrogram` [frames, model_in_dim] -> `waveform` [samples] */
function writeAudio(g: GraphWriter, c: Config): void {
  const bands = c.model_in_dim;
  const given = g.input('spectrogram', 'float32', ['frames', bands]);
  const even = () =>
    g.node('Div', [g.node('Sub', [given, g.weight('mean', [bands])]), g.weight('scale', [bands])]);
  const read = g.node('Transpose', [c.normalize_before ? even() : given], { perm: [1, 0] });
  const frames = g.node('Unsqueeze', [read, g.ints([0])]);
  const audio = hifiGan(g, frames, c, { base: '', from: bands, lastBias: true });
  g.output('waveform', g.node('Reshape', [audio, g.ints([-1])]), 'float32', ['samples']);
}

/** SpeechT5HifiGan of modeling_speecht5.py, which makes audio of SpeechT5's frames. */
export const hifigan = defineFamily({
  modelTypes: ['hifigan', 'speecht5_hifigan'],
  config,
  prefixes: [],
  heads: { speech: { vocoder: writeAudio } },
});
