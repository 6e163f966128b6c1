import { combine } from './combine.js';
import type { SchedulerConfig } from './config.js';
import { alongSlope, ancestral, createLevels, slide, slopeOf, toUnitVariance } from './levels.js';
import { originalAtLevel } from './prediction.js';
import type { Scheduler } from './scheduler.js';

/** A way from one noise level to the next one, by a level between them. */
interface Stretch {
  from: number;
  /** Where the second slope is taken; none in the last step. */
  middle: number;
  /** Where it leads, before noise is added. */
  to: number;
  /** Of fresh noise. */
  up: number;
}

/** KDPM2DiscreteScheduler (algorithm 2 of Karras et al., 2022, with the level between as in DPM-Solver-2). */
export const kDpm2 = (config: SchedulerConfig): Scheduler =>
  twoSlopes(config, (sigmas) =>
    sigmas.slice(0, -1).map((from, i): Stretch => {
      const to = sigmas[i + 1]!;
      return { from, middle: between(from, to), to, up: 0 };
    }),
  );

/** KDPM2AncestralDiscreteScheduler: each step goes too far down, and noise brings it up again. */
export const kDpm2Ancestral = (config: SchedulerConfig): Scheduler =>
  twoSlopes(config, (sigmas) =>
    sigmas.slice(0, -1).map((from, i): Stretch => {
      const { down: to, up } = ancestral(from, sigmas[i + 1]!);
      return { from, middle: between(from, to), to, up };
    }),
  );

/** The geometric mean. */
const between = (from: number, to: number): number => Math.sqrt(from * to);

const DEFAULTS = { start: 0.00085, end: 0.012, rescales: false };

function twoSlopes(
  config: SchedulerConfig,
  stretchesOf: (sigmas: readonly number[]) => Stretch[],
): Scheduler {
  const { levels, timestepAt, roundedByKarras, initOf } = createLevels(config, DEFAULTS);
  const prediction = config.choice('prediction_type', ['epsilon', 'v_prediction'], 'epsilon');
  return ({ steps }) => {
    const chosen = levels(steps);
    const own = roundedByKarras(chosen.timesteps);
    const stretches = stretchesOf([...Float32Array.from(chosen.sigmas), 0]);
    const timesteps = own.flatMap((timestep, i) =>
      i === own.length - 1 ? [timestep] : [timestep, timestepAt(stretches[i]!.middle)],
    );
    const sigmas = Float32Array.from([
      ...stretches.flatMap(({ from }, i) => (i === 0 ? [from] : [from, from])),
      ...[0, 0, 0],
    ]);
    let begun: Float32Array | undefined;
    const stretchAt = (index: number) => stretches[Math.floor(index / 2)]!;
    const levelAt = (index: number) => (index % 2 === 0 ? stretchAt(index).from : stretchAt(index).middle);
    return {
      timesteps,
      sigmas,
      initNoiseSigma: initOf(sigmas),
      scale: (sample, index) => toUnitVariance(sample, levelAt(index)),
      step(output, index, sample, draw) {
        const { from, middle, to, up } = stretchAt(index);
        const original = originalAtLevel(prediction, output, sample, levelAt(index));
        if (index % 2 === 0) {
          begun = sample;
          return slide(sample, original, from, middle);
        }
        const moved = alongSlope(begun!, slopeOf(sample, original, middle), from, to);
        return up === 0 ? moved : combine([1, moved], [up, draw(output.length)]);
      },
    };
  };
}
