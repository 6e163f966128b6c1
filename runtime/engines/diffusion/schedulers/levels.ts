import { roundHalfEven } from '../../../core/round-half-even.js';
import type { BetaDefaults } from './betas.js';
import { LEAST_SIGNAL, signalShares } from './betas.js';
import type { SchedulerConfig } from './config.js';
import { curveOf, interpolate, noiseLevels, onCurve, timestepOf } from './sigmas.js';
import { singleLogs } from './single-log.js';
import { linspace, SPACINGS, spacedTimesteps } from './timesteps.js';

/** Steps of a method that goes by noise levels. */
export interface Levels {
  timesteps: number[];
  /** One for each step, from the noisiest on. */
  sigmas: number[];
}

/** Noise levels as EulerDiscreteScheduler and HeunDiscreteScheduler choose them. */
export function createLevels(config: SchedulerConfig, defaults: BetaDefaults = {}) {
  const all = noiseLevels(signalShares(config, { lastSignal: LEAST_SIGNAL, ...defaults }));
  const logs = singleLogs(all);
  const spacing = config.choice('timestep_spacing', SPACINGS, 'linspace');
  const curve = curveOf(config);
  const between = config.choice('interpolation_type', ['linear', 'log_linear'], 'linear');
  return {
    lowest: all[0]!,
    /** What the network is told at the start of the noise, by the noise at the first step. */
    initOf(sigmas: Float32Array): number {
      const most = sigmas.reduce((a, b) => Math.max(a, b), 0);
      return spacing === 'leading' ? Math.sqrt(most ** 2 + 1) : most;
    },
    /** What the network is told of a noise level. */
    timestepAt: (sigma: number): number => Math.fround(timestepOf(sigma, logs)),
    /** Some classes round the timesteps of Karras' curve. */
    roundedByKarras: (timesteps: readonly number[]): number[] =>
      timesteps.map((timestep) => (curve === 'karras' ? roundHalfEven(timestep) : timestep)),
    levels(steps: number): Levels {
      const timesteps = spacedTimesteps(config, { steps, spacing, fractions: true });
      const own =
        between === 'linear'
          ? timesteps.map((step) => interpolate(all, step))
          : linspace(logs.at(-1)!, logs[0]!, steps + 1).map(Math.exp);
      if (!curve) return { timesteps, sigmas: own };
      const sigmas = onCurve(curve, config, { highest: own[0]!, lowest: own.at(-1)!, steps });
      return { timesteps: sigmas.map((sigma) => Math.fround(timestepOf(sigma, logs))), sigmas };
    },
  };
}

/** What a network reads that was trained on samples of variance 1. */
export function toUnitVariance(sample: Float32Array, sigma: number): Float32Array {
  const scale = 1 / Math.sqrt(sigma ** 2 + 1);
  return sample.map((value) => value * scale);
}

/**
 * A step that goes too far down, to a level from which fresh noise brings it up again. Rounded as Python rounds: where much
 * noise goes at once, the difference of two near squares is all there is of the lower level.
 */
export function ancestral(from: number, next: number): { down: number; up: number } {
  const square = (value: number) => Math.fround(value * value);
  const lost = Math.fround(square(next) * Math.fround(square(from) - square(next)));
  const up = Math.fround(Math.sqrt(Math.fround(lost / square(from))));
  return { down: Math.fround(Math.sqrt(Math.max(0, Math.fround(square(next) - square(up))))), up };
}

/** How a sample changes with the noise level. */
export const slopeOf = (sample: Float32Array, original: Float32Array, sigma: number): Float32Array =>
  sample.map((value, i) => Math.fround(value - original[i]!) / sigma);

/**
 * Goes along a slope from one noise level to another. Rounded as Python rounds: from a level in the thousands little is left of
 * single precision, and what is left depends on where it is cut.
 */
export function alongSlope(
  sample: Float32Array,
  slope: Float32Array,
  sigma: number,
  to: number,
): Float32Array {
  const step = Math.fround(to - sigma);
  return sample.map((value, i) => value + Math.fround(slope[i]! * step));
}

/** Goes from one noise level to another, away from the image. */
export const slide = (
  sample: Float32Array,
  original: Float32Array,
  sigma: number,
  to: number,
): Float32Array => alongSlope(sample, slopeOf(sample, original, sigma), sigma, to);
