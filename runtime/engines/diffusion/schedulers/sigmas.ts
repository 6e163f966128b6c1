import type { SchedulerConfig } from './config.js';
import { betaQuantile } from './beta-quantile.js';
import { linspace } from './timesteps.js';

/** Noise level of each training step: how much stronger the noise is than the signal. */
export const noiseLevels = (shares: Float32Array): Float32Array =>
  shares.map((share) => Math.sqrt(Math.fround(Math.fround(1 - share) / share)));

/** The value at a fraction of an index, between its neighbours; the ends go on (numpy.interp). */
export function interpolate(values: ArrayLike<number>, at: number): number {
  const low = Math.floor(at);
  if (low < 0) return values[0]!;
  if (low >= values.length - 1) return values[values.length - 1]!;
  return values[low]! + (at - low) * (values[low + 1]! - values[low]!);
}

/** The training step, a fraction, that has a noise level (`_sigma_to_t`). */
export function timestepOf(sigma: number, logs: Float32Array): number {
  const log = Math.log(Math.max(sigma, 1e-10));
  const found = logs.findLastIndex((one) => log >= one);
  const low = Math.min(Math.max(found, 0), logs.length - 2);
  const [below, above] = [logs[low]!, logs[low + 1]!];
  const weight = Math.min(1, Math.max(0, (below - log) / (below - above)));
  return (1 - weight) * low + weight * (low + 1);
}

export type Curve = 'karras' | 'exponential' | 'beta';

/** Which curve the noise levels take, if not the schedule's own. At most one can be asked for. */
export function curveOf(config: SchedulerConfig): Curve | undefined {
  const curves = (['karras', 'exponential', 'beta'] as const).filter((one) =>
    config.flag(`use_${one}_sigmas`, false),
  );
  if (curves.length > 1) config.refuse(`use_${curves[0]!}_sigmas`);
  return curves[0];
}

/** Noise levels on a curve between those of a schedule, or between `sigma_max` and `sigma_min` of the configuration. */
export function onCurve(
  curve: Curve,
  config: SchedulerConfig,
  { highest, lowest, steps }: { highest: number; lowest: number; steps: number },
): number[] {
  const [high, low] = [
    config.optionalNumber('sigma_max') ?? highest,
    config.optionalNumber('sigma_min') ?? lowest,
  ];
  return CURVES[curve](high, low, steps);
}

/** Exponent of Karras et al., 2022. */
const RHO = 7;
/** Both shape parameters of the beta distribution. */
const SHAPE = 0.6;

const CURVES: Record<Curve, (high: number, low: number, steps: number) => number[]> = {
  karras(high, low, steps) {
    const [first, last] = [high ** (1 / RHO), low ** (1 / RHO)];
    return linspace(0, 1, steps).map((ramp) => (first + ramp * (last - first)) ** RHO);
  },
  exponential: (high, low, steps) =>
    linspace(Math.log(high), Math.log(low), steps).map((log) => Math.exp(log)),
  beta: (high, low, steps) =>
    linspace(0, 1, steps).map((ramp) => low + betaQuantile(1 - ramp, SHAPE, SHAPE) * (high - low)),
};

/** Adds the level after the last step: none, or that of the first training step (`final_sigmas_type`). */
export function withFinal(
  config: SchedulerConfig,
  sigmas: readonly number[],
  { lowest, final }: { lowest: number; final?: 'sigma_min' | undefined },
): Float32Array {
  const kind = final ?? config.choice('final_sigmas_type', ['zero', 'sigma_min'], 'zero');
  return Float32Array.from([...sigmas, kind === 'zero' ? 0 : lowest]);
}
