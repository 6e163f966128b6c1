import type { SchedulerConfig } from './config.js';
import { alongSlope, createLevels, slopeOf, toUnitVariance } from './levels.js';
import { clipTo, originalAtLevel, predictionOf } from './prediction.js';
import type { Scheduler } from './scheduler.js';

/** HeunDiscreteScheduler (algorithm 2 of Karras et al., 2022): every step but the last is taken twice. */
export function heun(config: SchedulerConfig): Scheduler {
  const { levels, initOf } = createLevels(config, { start: 0.00085, end: 0.012, others: ['exp'] });
  const prediction = predictionOf(config);
  const clip = config.flag('clip_sample', false) ? clipTo(config.number('clip_sample_range', 1)) : undefined;
  return ({ steps }) => {
    const chosen = levels(steps);
    const twice = <T>(values: readonly T[]) =>
      values.flatMap((value, i) => (i === 0 ? [value] : [value, value]));
    const sigmas = Float32Array.from([...twice(chosen.sigmas), 0]);
    let begun: { sample: Float32Array; slope: Float32Array; from: number } | undefined;
    return {
      timesteps: twice(chosen.timesteps),
      sigmas,
      initNoiseSigma: initOf(sigmas),
      scale: (sample, index) => toUnitVariance(sample, sigmas[index]!),
      step(output, index, sample) {
        const sigma = sigmas[index]!;
        const free = originalAtLevel(prediction, output, sample, sigma);
        const slope = slopeOf(sample, clip ? clip(free) : free, sigma);
        if (begun) {
          const { sample: start, slope: first, from } = begun;
          begun = undefined;
          const mean = slope.map((value, i) => Math.fround(first[i]! + value) / 2);
          return alongSlope(start, mean, from, sigma);
        }
        begun = { sample, slope, from: sigma };
        return alongSlope(sample, slope, sigma, sigmas[index + 1]!);
      },
    };
  };
}
