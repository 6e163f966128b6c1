import { combine } from './combine.js';
import type { SchedulerConfig } from './config.js';
import { ancestral, createLevels, slide, toUnitVariance } from './levels.js';
import { originalAtLevel } from './prediction.js';
import type { Scheduler } from './scheduler.js';

/** EulerAncestralDiscreteScheduler: each step goes too far down, and noise brings it up again. */
export function eulerAncestral(config: SchedulerConfig): Scheduler {
  const { levels, initOf } = createLevels(config);
  const prediction = config.choice('prediction_type', ['epsilon', 'v_prediction'], 'epsilon');
  return ({ steps }) => {
    const { timesteps, sigmas: chosen } = levels(steps);
    const sigmas = Float32Array.from([...chosen, 0]);
    return {
      timesteps,
      sigmas,
      initNoiseSigma: initOf(sigmas),
      scale: (sample, index) => toUnitVariance(sample, sigmas[index]!),
      step(output, index, sample, draw) {
        const [from, to] = [sigmas[index]!, sigmas[index + 1]!];
        const { down, up } = ancestral(from, to);
        const original = originalAtLevel(prediction, output, sample, from);
        return combine([1, slide(sample, original, from, down)], [up, draw(output.length)]);
      },
    };
  };
}
