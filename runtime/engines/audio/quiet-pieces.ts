import { roundHalfEven } from '../../core/round-half-even.js';
import { RunError } from '../../core/errors.js';
import type { Json } from '../repository/model-folder.js';

/** How long audio is cut: numbers of samples. */
interface Cuts {
  /** Most samples of audio that stays whole, and of a piece. */
  whole: number;
  most: number;
  /** A piece ends within so many samples before `most`. */
  context: number;
  /** Samples whose loudness is compared. */
  window: number;
  /** Samples of two frames, of which features are made at least. */
  least: number;
}

const within = (value: unknown, [least, most]: readonly [number, number]): value is number =>
  typeof value === 'number' && value >= least && value <= most;

/** @throws RunError `not_ready` for settings that leave no pieces of use */
function cutsOf(settings: Json, rate: number): Cuts {
  const { max_audio_clip_s: seconds = 35, overlap_chunk_second: search = 5 } = settings;
  const { min_energy_window_samples: window = 1600 } = settings;
  if (!within(seconds, [1, 3600]) || !within(search, [0, seconds / 2]))
    throw new RunError(
      'not_ready',
      'max_audio_clip_s of 1 to 3600 and overlap_chunk_second of at most half of it are known',
    );
  if (!within(window, [16, 2 ** 24]) || !Number.isInteger(window))
    throw new RunError('not_ready', 'min_energy_window_samples is no whole number from 16 on');
  const samples = (time: number) => Math.max(1, roundHalfEven(time * rate));
  const context = samples(search);
  const least = 2 * Number(settings['hop_length'] ?? 160);
  return { whole: (seconds - search) * rate, most: samples(seconds), context, window, least };
}

/** Root of the mean square. */
const loudness = (samples: Float32Array): number =>
  Math.fround(Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length));

/** Where the quietest window from `start` on begins; the middle where there is room for one window only. */
function quietest(
  samples: Float32Array,
  { start, end, window }: { start: number; end: number; window: number },
): number {
  if (end - start <= window) return Math.floor((start + end) / 2);
  let [least, found] = [Infinity, start];
  for (let at = start; at < end - window; at += window) {
    const loud = loudness(samples.subarray(at, at + window));
    if (loud < least) [least, found] = [loud, at];
  }
  return found;
}

/**
 * Cuts long audio where it is quiet, as CohereAsrFeatureExtractor does.
 * @param settings preprocessor_config.json
 * @returns pieces of samples; the whole where it is short. A rest without two frames is left, whose features are no numbers in Python
 */
export function quietPieces(settings: Json, rate: number): (samples: Float32Array) => Float32Array[] {
  const { whole, most, context, window, least } = cutsOf(settings, rate);
  return (samples) => {
    if (samples.length <= whole) return [samples];
    const pieces = [];
    let start = 0;
    while (start + most < samples.length) {
      const end = start + most;
      const cut = Math.max(
        start + 1,
        quietest(samples, { start: Math.max(start, end - context), end, window }),
      );
      pieces.push(samples.subarray(start, cut));
      start = cut;
    }
    const rest = samples.subarray(start);
    return rest.length < least && pieces.length > 0 ? pieces : [...pieces, rest];
  };
}
