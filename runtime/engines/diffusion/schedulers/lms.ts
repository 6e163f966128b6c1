import type { SchedulerConfig } from './config.js';
import { createLevels, slopeOf, toUnitVariance } from './levels.js';
import { originalAtLevel, predictionOf } from './prediction.js';
import type { Scheduler } from './scheduler.js';

/** Slopes that a step goes by, at most. */
const ORDER = 4;

/** LMSDiscreteScheduler: a polynomial through the last slopes, integrated (Katherine Crowson). */
export function lms(config: SchedulerConfig): Scheduler {
  const { levels, initOf } = createLevels(config, { rescales: false });
  const prediction = predictionOf(config);
  return ({ steps }) => {
    const { timesteps, sigmas: chosen } = levels(steps);
    const sigmas = Float32Array.from([...chosen, 0]);
    const slopes: Float32Array[] = [];
    return {
      timesteps,
      sigmas,
      initNoiseSigma: initOf(sigmas),
      scale: (sample, index) => toUnitVariance(sample, sigmas[index]!),
      step(output, index, sample) {
        const sigma = sigmas[index]!;
        slopes.unshift(slopeOf(sample, originalAtLevel(prediction, output, sample, sigma), sigma));
        slopes.length = Math.min(slopes.length, ORDER);
        const known = Array.from(slopes, (_, i) => sigmas[index - i]!);
        const weights = known.map((_, i) => Math.fround(integral(known, i, sigmas[index + 1]!)));
        // Rounded as Python rounds, since little is left of the first levels.
        const part = (i: number) =>
          weights.reduce((sum, weight, k) => Math.fround(sum + Math.fround(weight * slopes[k]![i]!)), 0);
        return sample.map((value, i) => value + part(i));
      },
    };
  };
}

/** Of the polynomial that is 1 at one of the points and 0 at the others, from the first point to `to`; Simpson's rule is exact for so few. */
function integral(points: readonly number[], own: number, to: number): number {
  const [from] = points as [number];
  const at = (x: number) =>
    points.reduce(
      (product, point, i) => (i === own ? product : (product * (x - point)) / (points[own]! - point)),
      1,
    );
  return ((to - from) / 6) * (at(from) + 4 * at((from + to) / 2) + at(to));
}
