import { roundHalfEven } from '../../../core/round-half-even.js';
import { LEAST_SIGNAL, signalShares } from './betas.js';
import { type SchedulerConfig, trainSteps } from './config.js';
import { shiftOf, stretched } from './flow-match-euler.js';
import type { Levels } from './levels.js';
import type { StartOptions } from './scheduler.js';
import type { Mix } from './prediction.js';
import { curveOf, interpolate, noiseLevels, onCurve, timestepOf, withFinal } from './sigmas.js';
import { singleLogs } from './single-log.js';
import { linspace, SPACINGS, spacedTimesteps } from './timesteps.js';

/** What DPMSolverMultistepScheduler and UniPCMultistepScheduler share. */
export interface MultistepLevels {
  timesteps: number[];
  /** One more than there are timesteps. */
  sigmas: Float32Array;
}

const LOGS = ['karras', 'exponential', 'beta', 'lu'] as const;

type MultistepCurve = (typeof LOGS)[number];

/** How the two classes differ. */
export interface Rules {
  /** Curves whose timesteps are rounded; those of others are cut off. */
  rounded: readonly MultistepCurve[];
  /** The level after the last step of a curve: that of the first training step, or the curve's own last. */
  repeatsLast: boolean;
  flow(options: StartOptions): number[];
  /** For classes without a `final_sigmas_type`. */
  final?: 'sigma_min';
  /** False for classes that do not know `rescale_betas_zero_snr`. */
  rescales?: boolean;
}

/** @throws RunError `not_ready` for a configuration that is not known */
export function multistepLevels(
  config: SchedulerConfig,
  rules: Rules,
): (options: StartOptions) => MultistepLevels {
  const shares = signalShares(config, { lastSignal: LEAST_SIGNAL, rescales: rules.rescales ?? true });
  const all = noiseLevels(shares);
  const logs = singleLogs(all);
  const last = trainSteps(config) - clippedSteps(config, shares);
  const spacing = config.choice('timestep_spacing', SPACINGS, 'linspace');
  const curve = curveOf(config) ?? (config.flag('use_lu_lambdas', false) ? 'lu' : undefined);
  const flow = config.flag('use_flow_sigmas', false);
  const ends = { highest: all.at(-1)!, lowest: all[0]! };
  const lu = { highest: logs.at(-1)!, lowest: logs[0]! };

  function chosen(options: StartOptions): Levels {
    const { steps } = options;
    const timesteps = spacedTimesteps(config, { steps, spacing, last, extra: 1 });
    if (curve) {
      const sigmas =
        curve === 'lu'
          ? linspace(0, 1, steps).map((ramp) => Math.exp(lu.highest + ramp * (lu.lowest - lu.highest)))
          : onCurve(curve, config, { ...ends, steps });
      if (flow && curve === 'karras' && rules.repeatsLast)
        return ofFlow(
          config,
          sigmas.map((sigma) => sigma / (sigma + 1)),
        );
      const whole = rules.rounded.includes(curve) ? roundHalfEven : Math.trunc;
      return { sigmas, timesteps: sigmas.map((sigma) => Math.trunc(whole(timestepOf(sigma, logs)))) };
    }
    if (flow) return ofFlow(config, rules.flow(options));
    return { timesteps, sigmas: timesteps.map((step) => interpolate(all, step)) };
  }

  return (options) => {
    const { timesteps, sigmas } = chosen(options);
    const repeats = rules.repeatsLast && (curve !== undefined || flow);
    return {
      timesteps,
      sigmas: withFinal(config, sigmas, { lowest: repeats ? sigmas.at(-1)! : all[0]!, final: rules.final }),
    };
  };
}

const ofFlow = (config: SchedulerConfig, sigmas: number[]): Levels => ({
  sigmas,
  timesteps: sigmas.map((sigma) => Math.trunc(sigma * trainSteps(config))),
});

/** Training steps at the noisy end whose share of the signal is less than `lambda_min_clipped` allows. */
function clippedSteps(config: SchedulerConfig, shares: Float32Array): number {
  const least = config.number('lambda_min_clipped', -Infinity);
  return shares.filter((share) => 0.5 * Math.log(share / (1 - share)) < least).length;
}

/** Levels of flow matching, from the noisiest on. */
export function plainFlowLevels(config: SchedulerConfig): Rules['flow'] {
  const fixed = config.number('flow_shift', 1);
  return ({ steps, mu }) => {
    const shift = mu === undefined ? fixed : Math.exp(mu);
    return linspace(1, 1 / trainSteps(config), steps + 1)
      .map((alpha) => (shift * (1 - alpha)) / (1 + (shift - 1) * (1 - alpha)))
      .toReversed()
      .slice(0, -1);
  };
}

/** Flow levels of UniPC, which never begin at pure noise. */
export function flowLevels(config: SchedulerConfig): Rules['flow'] {
  const shifts = shiftOf(config, 'flow_shift');
  const least = 1e-6;
  return ({ steps, sigmas: given, mu }) => {
    const even = given ?? linspace(1, 1 / trainSteps(config), steps + 1).slice(0, -1);
    const sigmas = stretched(config, shifts(even, mu));
    if (Math.abs(sigmas[0]! - 1) < least) sigmas[0]! -= least;
    return sigmas;
  };
}

/** Weights of signal and noise at a noise level, and half the logarithm of the squares' ratio. */
export interface Point extends Mix {
  lambda: number;
}

export function pointAt(sigma: number, flow: boolean): Point {
  const alpha = flow ? 1 - sigma : 1 / Math.sqrt(sigma ** 2 + 1);
  const noise = flow ? sigma : sigma * alpha;
  return { alpha, sigma: noise, lambda: Math.log(alpha) - Math.log(noise) };
}
