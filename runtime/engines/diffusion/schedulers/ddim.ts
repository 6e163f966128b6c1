import { signalShares } from './betas.js';
import { combine, type Term } from './combine.js';
import { type SchedulerConfig, trainSteps } from './config.js';
import { boundOf, noiseOf, originalOf, predictionOf } from './prediction.js';
import { type Scheduler, unscaled } from './scheduler.js';
import { requireTrained, SPACINGS, spacedTimesteps } from './timesteps.js';

/** DDIMScheduler (Song et al., 2020). */
export function ddim(config: SchedulerConfig): Scheduler {
  const shares = signalShares(config);
  const final = config.flag('set_alpha_to_one', true) ? 1 : shares[0]!;
  const prediction = predictionOf(config);
  const spacing = config.choice('timestep_spacing', SPACINGS, 'leading');
  const bound = boundOf(config, true);
  return ({ steps, rows = 1, eta = 0 }) => {
    const timesteps = spacedTimesteps(config, { steps, spacing });
    requireTrained(timesteps, shares);
    const stride = Math.floor(trainSteps(config) / steps);
    return {
      timesteps,
      initNoiseSigma: 1,
      scale: unscaled,
      step(output, index, sample, draw) {
        const before = timesteps[index]! - stride;
        const share = shares.at(timesteps[index]!)!;
        const next = before >= 0 ? shares[before]! : final;
        const mix = { alpha: Math.sqrt(share), sigma: Math.sqrt(1 - share) };
        const free = originalOf(prediction, output, sample, mix);
        const original = bound ? bound(free, rows) : free;
        const noise = noiseOf(prediction, output, sample, mix);
        const variance = ((1 - next) / (1 - share)) * (1 - share / next);
        const deviation = eta * Math.sqrt(variance);
        const direction = Math.sqrt(1 - next - deviation ** 2);
        const fresh: Term[] = eta > 0 ? [[deviation, draw(output.length)]] : [];
        return combine([Math.sqrt(next), original], [direction, noise], ...fresh);
      },
    };
  };
}
