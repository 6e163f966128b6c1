import { signalShares } from './betas.js';
import { combine } from './combine.js';
import type { SchedulerConfig } from './config.js';
import { boundOf, originalOf, predictionOf } from './prediction.js';
import { type Draw, type Scheduler, unscaled } from './scheduler.js';
import { requireTrained, SPACINGS, spacedTimesteps } from './timesteps.js';

const VARIANCES = [
  ...(['fixed_small', 'fixed_small_log', 'fixed_large', 'fixed_large_log'] as const),
  ...(['learned', 'learned_range'] as const),
] as const;
type Variance = (typeof VARIANCES)[number];

/** DDPMScheduler (Ho et al., 2020). */
export function ddpm(config: SchedulerConfig): Scheduler {
  const shares = signalShares(config, { others: ['sigmoid', 'laplace'] });
  const prediction = predictionOf(config);
  const spacing = config.choice('timestep_spacing', SPACINGS, 'leading');
  const kind = config.choice('variance_type', VARIANCES, 'fixed_small');
  const bound = boundOf(config, true);
  return ({ steps, rows = 1 }) => {
    const timesteps = spacedTimesteps(config, { steps, spacing });
    requireTrained(timesteps, shares);
    return {
      timesteps,
      initNoiseSigma: 1,
      scale: unscaled,
      step(given, index, sample, draw) {
        const { output, learned } = parted(kind, given, { rows, size: sample.length });
        const share = shares.at(timesteps[index]!)!;
        const next = index + 1 < timesteps.length ? shares.at(timesteps[index + 1]!)! : 1;
        const [kept, beta] = [share / next, 1 - share / next];
        const mix = { alpha: Math.sqrt(share), sigma: Math.sqrt(1 - share) };
        const free = originalOf(prediction, output, sample, mix);
        const mean = combine(
          [(Math.sqrt(next) * beta) / (1 - share), bound ? bound(free, rows) : free],
          [(Math.sqrt(kept) * (1 - next)) / (1 - share), sample],
        );
        if (timesteps[index]! <= 0) return mean;
        const least = Math.max((beta * (1 - next)) / (1 - share), 1e-20);
        return withNoise(kind, mean, { least, most: beta, learned, draw });
      },
    };
  };
}

/** What the network gives twice as many channels for: the noise, and how uncertain it is. */
function parted(
  kind: Variance,
  output: Float32Array,
  { rows, size }: { rows: number; size: number },
): { output: Float32Array; learned?: Float32Array } {
  if (!kind.startsWith('learned') || output.length !== 2 * size) return { output };
  const row = size / rows;
  const [noise, learned] = [new Float32Array(size), new Float32Array(size)];
  for (let i = 0; i < rows; i++) {
    noise.set(output.subarray(2 * i * row, (2 * i + 1) * row), i * row);
    learned.set(output.subarray((2 * i + 1) * row, (2 * i + 2) * row), i * row);
  }
  return { output: noise, learned };
}

interface Spread {
  /** Variance from below and from above. */
  least: number;
  most: number;
  learned?: Float32Array | undefined;
  draw: Draw;
}

function withNoise(kind: Variance, mean: Float32Array, { least, most, learned, draw }: Spread): Float32Array {
  const noise = draw(mean.length);
  if (!learned) return combine([1, mean], [deviation(kind, least, most), noise]);
  const [low, high] = [Math.log(least), Math.log(most)];
  return mean.map((value, i) => {
    const part = (learned[i]! + 1) / 2;
    const spread =
      kind === 'learned' ? Math.sqrt(learned[i]!) : Math.exp(0.5 * (part * high + (1 - part) * low));
    return value + spread * noise[i]!;
  });
}

function deviation(kind: Variance, least: number, most: number): number {
  if (kind === 'fixed_large') return Math.sqrt(most);
  if (kind === 'fixed_large_log') return Math.sqrt(Math.log(most));
  return Math.sqrt(least);
}
