import type { Head } from '../../../runtime/core/handles/index.js';
import type { ExportRecipe, Sizes } from '../types.js';

/** Class of heads that read samples of an audio clip. */
const HEADS: Partial<Record<Head, string>> = {
  ctc: 'AutoModelForCTC',
  'audio-classification': 'AutoModelForAudioClassification',
};

/** Types that read samples; those that read spectrograms have sizes of their own. */
const SAMPLES: ReadonlySet<unknown> = new Set(['sew', 'sew-d', 'wav2vec2-conformer']);

/** Half a second, of 16,000 samples a second. Rows have no mask: audio clips of one length share a run. */
const TRACED: Sizes = { rows: 2, samples: 8000 };
const PROBES: readonly Sizes[] = [
  { rows: 1, samples: 8000 },
  { rows: 3, samples: 12_345 },
  { rows: 1, samples: 20_000 },
];

/** @returns undefined for other heads, a text for what can't be exported */
export function audioRecipe(
  head: Head,
  { model_type: type }: Readonly<Record<string, unknown>>,
): Omit<ExportRecipe, 'modelType'> | string | undefined {
  const name = HEADS[head];
  if (name === undefined) return undefined;
  if (!SAMPLES.has(type)) return 'its kind of spectrogram has no recipe';
  const axes = ['rows', 'samples'];
  return {
    ...{ class: name, config: {}, mayMiss: [], outputs: ['logits'] },
    inputs: { input_values: { kind: 'noise', axes } },
    free: axes,
    ...{ traced: TRACED, probes: PROBES },
  };
}
