import { RunError } from '../../../core/errors.js';
import { combine } from './combine.js';
import { type SchedulerConfig, requireSteps, trainSteps } from './config.js';
import type { Scheduler, StartOptions } from './scheduler.js';
import { unscaled } from './scheduler.js';
import { curveOf, onCurve } from './sigmas.js';
import { linspace } from './timesteps.js';

/** FlowMatchEulerDiscreteScheduler: straight ways from noise to image (Esser et al., 2024). */
export function flowMatchEuler(config: SchedulerConfig): Scheduler {
  const all = trainSteps(config);
  const inverted = config.flag('invert_sigmas', false);
  const stochastic = config.flag('stochastic_sampling', false);
  const levels = createFlowLevels(config);
  return (options) => {
    const noisy = levels(options);
    const chosen = inverted ? noisy.map((sigma) => Math.fround(1 - sigma)) : noisy;
    const sigmas = Float32Array.from([...chosen, inverted ? 1 : 0]);
    return {
      timesteps: Array.from(sigmas.subarray(0, -1), (sigma) => Math.fround(sigma * all)),
      sigmas,
      initNoiseSigma: 1,
      scale: unscaled,
      step(output, index, sample, draw) {
        const [sigma, next] = [sigmas[index]!, sigmas[index + 1]!];
        if (!stochastic) return combine([1, sample], [next - sigma, output]);
        return combine([1 - next, sample], [-sigma * (1 - next), output], [next, draw(sample.length)]);
      },
    };
  };
}

function createFlowLevels(config: SchedulerConfig): (options: StartOptions) => number[] {
  const all = trainSteps(config);
  const shift = config.number('shift', 1);
  const curve = curveOf(config);
  const shifts = shiftOf(config, 'shift');
  // Python shifts the ends of the schedule once more.
  const end = (sigma: number) =>
    Math.fround(config.flag('use_dynamic_shifting', false) ? sigma : moved(sigma, shift));
  return ({ steps, sigmas: given, mu }) => {
    requireSteps(config, steps);
    const even = linspace(end(1) * all, end(1 / all) * all, steps).map((timestep) => timestep / all);
    const shifted = stretched(config, shifts(given?.map(Math.fround) ?? even, mu));
    if (!curve) return shifted.map(Math.fround);
    return onCurve(curve, config, { highest: shifted[0]!, lowest: shifted.at(-1)!, steps: shifted.length });
  };
}

const moved = (sigma: number, shift: number): number => (shift * sigma) / (1 + (shift - 1) * sigma);

/** Moves noise levels, by a fixed shift or by the image's size (`mu`). */
export function shiftOf(config: SchedulerConfig, field: 'shift' | 'flow_shift') {
  const shift = config.number(field, 1);
  const type = config.choice('time_shift_type', ['exponential', 'linear'], 'exponential');
  const dynamic = config.flag('use_dynamic_shifting', false);
  return (sigmas: readonly number[], mu: number | undefined): number[] => {
    if (!dynamic) return sigmas.map((sigma) => moved(sigma, shift));
    if (mu === undefined)
      throw new RunError(
        'not_ready',
        `${config.name} with use_dynamic_shifting needs a pipeline that shifts`,
      );
    const weight = type === 'exponential' ? Math.exp(mu) : mu;
    return sigmas.map((sigma) => weight / (weight + (1 / sigma - 1)));
  };
}

/** Stretches noise levels so that the last is `shift_terminal`. */
export function stretched(config: SchedulerConfig, sigmas: number[]): number[] {
  const terminal = config.optionalNumber('shift_terminal');
  if (!terminal) return sigmas;
  const scale = (1 - sigmas.at(-1)!) / (1 - terminal);
  return sigmas.map((sigma) => 1 - (1 - sigma) / scale);
}
