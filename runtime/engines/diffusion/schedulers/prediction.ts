import type { SchedulerConfig } from './config.js';
import { combine } from './combine.js';

const PREDICTIONS = ['epsilon', 'sample', 'v_prediction'] as const;
export type Prediction = (typeof PREDICTIONS)[number] | 'flow_prediction';

/** What the network gives, by the scheduler's configuration. @throws RunError `not_ready` for a kind that is not known here */
export function predictionOf(config: SchedulerConfig, { flow = false } = {}): Prediction {
  const known = flow ? [...PREDICTIONS, 'flow_prediction' as const] : PREDICTIONS;
  return config.choice('prediction_type', known, 'epsilon');
}

/** Weights of signal and noise in a sample. */
export interface Mix {
  alpha: number;
  sigma: number;
}

/** The image that the network's output means. */
export function originalOf(
  prediction: Prediction,
  output: Float32Array,
  sample: Float32Array,
  { alpha, sigma }: Mix,
): Float32Array {
  if (prediction === 'sample') return output;
  // Divided last, as Python does: where nothing of the signal is left the image is infinite, and clipped.
  if (prediction === 'epsilon') return combine([1, sample], [-sigma, output]).map((value) => value / alpha);
  if (prediction === 'flow_prediction') return combine([1, sample], [-sigma, output]);
  return combine([alpha, sample], [-sigma, output]);
}

/** The noise that the network's output means. */
export function noiseOf(
  prediction: Prediction,
  output: Float32Array,
  sample: Float32Array,
  { alpha, sigma }: Mix,
): Float32Array {
  if (prediction === 'epsilon') return output;
  if (prediction === 'sample') return combine([1 / sigma, sample], [-alpha / sigma, output]);
  return combine([alpha, output], [sigma, sample]);
}

/** As `originalOf`, for samples whose signal is not scaled down as noise is added, and rounded where Python rounds. */
export function originalAtLevel(
  prediction: Prediction,
  output: Float32Array,
  sample: Float32Array,
  sigma: number,
): Float32Array {
  if (prediction === 'sample') return output;
  if (prediction === 'epsilon') return sample.map((value, i) => value - Math.fround(sigma * output[i]!));
  const square = Math.fround(Math.fround(sigma * sigma) + 1);
  const share = Math.fround(sigma / Math.fround(Math.sqrt(square)));
  return sample.map((value, i) => Math.fround(-share * output[i]!) + Math.fround(value / square));
}

/** Bounds what is known of the image (`thresholding`, `clip_sample`); undefined where nothing is to be done. */
export type Bound = ((original: Float32Array, rows: number) => Float32Array) | undefined;

/** @param clips the class's default of `clip_sample`; undefined where it has none */
export function boundOf(config: SchedulerConfig, clips?: boolean): Bound {
  if (config.flag('thresholding', false)) {
    const ratio = config.number('dynamic_thresholding_ratio', 0.995);
    const most = config.number('sample_max_value', 1);
    return (original, rows) => threshold(original, { rows, ratio, most });
  }
  if (clips === undefined || !config.flag('clip_sample', clips)) return undefined;
  return clipTo(config.number('clip_sample_range', 1));
}

export const clipTo =
  (range: number) =>
  (original: Float32Array): Float32Array =>
    original.map((value) => (value < -range ? -range : value > range ? range : value));

interface Threshold {
  rows: number;
  ratio: number;
  most: number;
}

/** Dynamic thresholding (Imagen): each image is cut at a quantile of its absolute values, and scaled by it. */
function threshold(original: Float32Array, { rows, ratio, most }: Threshold): Float32Array {
  const result = new Float32Array(original.length);
  const size = original.length / rows;
  for (let row = 0; row < rows; row++) {
    const part = original.subarray(row * size, (row + 1) * size);
    const limit = Math.min(Math.max(quantile(part.map(Math.abs).sort(), ratio), 1), most);
    result.set(
      clipTo(limit)(part).map((value) => value / limit),
      row * size,
    );
  }
  return result;
}

function quantile(sorted: Float32Array, ratio: number): number {
  const at = ratio * (sorted.length - 1);
  const low = Math.floor(at);
  const [below, above] = [sorted[low]!, sorted[Math.min(low + 1, sorted.length - 1)]!];
  return below + (at - low) * (above - below);
}
