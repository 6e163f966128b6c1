import { roundHalfEven } from '../../../core/round-half-even.js';
import { RunError } from '../../../core/errors.js';
import { type SchedulerConfig, requireSteps, trainSteps } from './config.js';

export const SPACINGS = ['linspace', 'leading', 'trailing'] as const;
export type Spacing = (typeof SPACINGS)[number];

/** `count` numbers from `first` to `last`, both included (numpy.linspace). */
export function linspace(first: number, last: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) =>
    i === count - 1 && count > 1 ? last : first + i * ((last - first) / Math.max(1, count - 1)),
  );
}

export interface SpacingRequest {
  steps: number;
  spacing: Spacing;
  /** Training steps that are left out at the end of the schedule count as not there. */
  last?: number;
  /** Solvers of several steps divide by one more and leave out the last. */
  extra?: 0 | 1;
  /** Fractions are kept (schedules over noise levels, `linspace` only). */
  fractions?: boolean;
}

/** Timesteps from the noisiest on, by `timestep_spacing`. */
export function spacedTimesteps(
  config: SchedulerConfig,
  { steps, spacing, last = trainSteps(config), extra = 0, fractions = false }: SpacingRequest,
): number[] {
  requireSteps(config, steps);
  const count = steps + extra;
  if (spacing === 'trailing') return trailing(trainSteps(config), last, steps);
  const whole = fractions ? Math.fround : roundHalfEven;
  const rising =
    spacing === 'linspace'
      ? linspace(0, last - 1, count).map(whole)
      : Array.from({ length: count }, (_, i) => i * Math.floor(last / count));
  const offset = spacing === 'leading' ? config.number('steps_offset', 0) : 0;
  return rising
    .toReversed()
    .slice(0, steps)
    .map((step) => step + offset);
}

/** numpy.arange(last, 0, -ratio), rounded, less one; its rounding may give one more than was asked for. */
function trailing(all: number, last: number, steps: number): number[] {
  const ratio = all / steps;
  const delta = last - ratio - last;
  return Array.from({ length: Math.ceil(last / ratio) }, (_, i) => roundHalfEven(last + i * delta) - 1);
}

/** @throws RunError 422 where the network would be told of steps that it was not trained for */
export function requireTrained(timesteps: readonly number[], shares: Float32Array): void {
  const most = timesteps.reduce((a, b) => Math.max(a, b), 0);
  if (most < shares.length) return;
  throw new RunError('unprocessable', 'params.num_inference_steps: this model can’t take so many');
}
