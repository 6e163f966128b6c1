import type { SchedulerConfig } from './config.js';
import { createLevels, slide, toUnitVariance } from './levels.js';
import { originalAtLevel } from './prediction.js';
import type { Scheduler } from './scheduler.js';
import { withFinal } from './sigmas.js';

/** EulerDiscreteScheduler (algorithm 2 of Karras et al., 2022, without churn). */
export function euler(config: SchedulerConfig): Scheduler {
  const { levels, initOf, lowest } = createLevels(config);
  // Python's class knows this name for an image, too.
  const named = config.choice(
    'prediction_type',
    ['epsilon', 'sample', 'original_sample', 'v_prediction'],
    'epsilon',
  );
  const prediction = named === 'original_sample' ? 'sample' : named;
  const type = config.choice('timestep_type', ['discrete', 'continuous'], 'discrete');
  const continuous = type === 'continuous' && prediction === 'v_prediction';
  return ({ steps }) => {
    const chosen = levels(steps);
    const sigmas = withFinal(config, chosen.sigmas, { lowest });
    const logs = Array.from(sigmas.subarray(0, -1), (sigma) => Math.fround(0.25 * Math.log(sigma)));
    return {
      timesteps: continuous ? logs : chosen.timesteps,
      sigmas,
      initNoiseSigma: initOf(sigmas),
      scale: (sample, index) => toUnitVariance(sample, sigmas[index]!),
      step(output, index, sample) {
        const [sigma, next] = [sigmas[index]!, sigmas[index + 1]!];
        const original = originalAtLevel(prediction, output, sample, sigma);
        return slide(sample, original, sigma, next);
      },
    };
  };
}
