import { RunError } from '../../../core/errors.js';
import { signalShares } from './betas.js';
import { combine } from './combine.js';
import { type SchedulerConfig, requireSteps, trainSteps } from './config.js';
import { boundOf, originalOf, predictionOf } from './prediction.js';
import { type Scheduler, unscaled } from './scheduler.js';

/** Spread of the images for which the network was trained. */
const SIGMA_DATA = 0.5;

/** LCMScheduler (Luo et al., 2023): the image at once, and noise on it again for the next step. */
export function lcm(config: SchedulerConfig): Scheduler {
  const shares = signalShares(config, { start: 0.00085, end: 0.012, schedule: 'scaled_linear' });
  const prediction = predictionOf(config);
  const scaling = config.number('timestep_scaling', 10);
  const bound = boundOf(config, false);
  return ({ steps, rows = 1 }) => {
    const timesteps = timestepsOf(config, steps);
    return {
      timesteps,
      initNoiseSigma: 1,
      scale: unscaled,
      step(output, index, sample, draw) {
        const share = shares.at(timesteps[index]!)!;
        const scaled = timesteps[index]! * scaling;
        const square = scaled ** 2 + SIGMA_DATA ** 2;
        const mix = { alpha: Math.sqrt(share), sigma: Math.sqrt(1 - share) };
        const free = originalOf(prediction, output, sample, mix);
        const clean = combine(
          [scaled / Math.sqrt(square), bound ? bound(free, rows) : free],
          [SIGMA_DATA ** 2 / square, sample],
        );
        if (index === timesteps.length - 1) return clean;
        const next = shares.at(timesteps[index + 1]!)!;
        return combine([Math.sqrt(next), clean], [Math.sqrt(1 - next), draw(output.length)]);
      },
    };
  };
}

/** Some of the steps of the schedule from which the model was distilled. */
function timestepsOf(config: SchedulerConfig, steps: number): number[] {
  requireSteps(config, steps);
  const all = trainSteps(config);
  const original = config.number('original_inference_steps', 50);
  if (steps > original || original > all) {
    throw new RunError('unprocessable', `params.num_inference_steps: this model takes ${original} at most`);
  }
  const stride = Math.floor(all / original);
  const falling = Array.from({ length: original }, (_, i) => (original - i) * stride - 1);
  return Array.from({ length: steps }, (_, i) => falling[Math.floor(i * (original / steps))]!);
}
