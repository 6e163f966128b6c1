import { signalShares } from './betas.js';
import { combine, type Term } from './combine.js';
import { type SchedulerConfig, trainSteps } from './config.js';
import { noiseOf } from './prediction.js';
import { type Schedule, type Scheduler, unscaled } from './scheduler.js';
import { requireTrained, SPACINGS, spacedTimesteps } from './timesteps.js';

/** PNDMScheduler (Liu et al., 2022): linear multistep, after Runge-Kutta steps unless `skip_prk_steps`. */
export function pndm(config: SchedulerConfig): Scheduler {
  const shares = signalShares(config);
  const final = config.flag('set_alpha_to_one', false) ? 1 : shares[0]!;
  const prediction = config.choice('prediction_type', ['epsilon', 'v_prediction'], 'epsilon');
  const spacing = config.choice('timestep_spacing', SPACINGS, 'leading');
  const skips = config.flag('skip_prk_steps', false);

  function move(sample: Float32Array, from: number, to: number, output: Float32Array): Float32Array {
    const share = shares.at(from)!;
    const next = to >= 0 ? shares[to]! : final;
    const noise = noiseOf(prediction, output, sample, {
      alpha: Math.sqrt(share),
      sigma: Math.sqrt(1 - share),
    });
    const divisor = share * Math.sqrt(1 - next) + Math.sqrt(share * (1 - share) * next);
    return combine([Math.sqrt(next / share), sample], [-(next - share) / divisor, noise]);
  }

  return ({ steps }): Schedule => {
    const rising = spacedTimesteps(config, { steps, spacing }).toReversed();
    requireTrained(rising, shares);
    const stride = Math.floor(trainSteps(config) / steps);
    const warm = skips ? [] : rungeKuttaSteps(rising, Math.floor(stride / 2));
    // Without these the second of the steps is done twice.
    const rest = skips
      ? [...rising.slice(0, -1), ...rising.slice(-2, -1), ...rising.slice(-1)].toReversed()
      : rising.slice(0, -3).toReversed();
    const timesteps = [...warm, ...rest];
    const rungeKutta = createRungeKutta(warm, Math.floor(stride / 2), move);
    const multistep = createMultistep(stride, move);
    return {
      timesteps,
      initNoiseSigma: 1,
      scale: unscaled,
      step(output, index, sample) {
        if (index >= warm.length) return multistep(output, { index, sample, timestep: timesteps[index]! });
        const moved = rungeKutta(output, index, sample);
        if (index % 4 === 0) multistep.remember(output);
        return moved;
      },
    };
  };
}

type Move = (sample: Float32Array, from: number, to: number, output: Float32Array) => Float32Array;

const ORDER = 4;

/** Each of the four noisiest steps in quarters: at its start, twice in its middle, at its end. */
function rungeKuttaSteps(rising: readonly number[], half: number): number[] {
  const both = rising.slice(-ORDER).flatMap((step) => [step, step + half]);
  return both
    .slice(0, -1)
    .flatMap((step) => [step, step])
    .slice(1, -1)
    .toReversed();
}

const QUARTERS = [1 / 6, 1 / 3, 1 / 3, 1 / 6];

function createRungeKutta(timesteps: readonly number[], half: number, move: Move) {
  let terms: Term[] = [];
  let start: Float32Array | undefined;
  return (output: Float32Array, index: number, sample: Float32Array): Float32Array => {
    const quarter = index % 4;
    const to = timesteps[index]! - (index % 2 === 1 ? 0 : half);
    if (quarter === 0) [terms, start] = [[], sample];
    terms.push([QUARTERS[quarter]!, output]);
    const slope = quarter === 3 ? combine(...terms) : output;
    return move(start ?? sample, timesteps[index - quarter]!, to, slope);
  };
}

/** Weights of the last outputs, the newest first (Adams-Bashforth). */
const WEIGHTS = [
  [1],
  [3 / 2, -1 / 2],
  [23 / 12, -16 / 12, 5 / 12],
  [55 / 24, -59 / 24, 37 / 24, -9 / 24],
] as const;

interface MultistepAt {
  index: number;
  sample: Float32Array;
  timestep: number;
}

function createMultistep(stride: number, move: Move) {
  const outputs: Float32Array[] = [];
  let first: Float32Array | undefined;
  const remember = (output: Float32Array) => void outputs.unshift(output);
  const step = (output: Float32Array, { index, sample, timestep }: MultistepAt): Float32Array => {
    // The second run is of the first step again, with what the first has found.
    if (index === 1) {
      const mean = combine([1 / 2, output], [1 / 2, outputs[0]!]);
      return move(first!, timestep + stride, timestep, mean);
    }
    outputs.length = Math.min(outputs.length, ORDER - 1);
    remember(output);
    if (index === 0) first = sample;
    const weights = WEIGHTS[outputs.length - 1]!;
    const slope = combine(...weights.map((weight, i): Term => [weight, outputs[i]!]));
    return move(sample, timestep, timestep - stride, slope);
  };
  return Object.assign(step, { remember });
}
