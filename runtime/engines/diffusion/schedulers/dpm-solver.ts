import { RunError } from '../../../core/errors.js';
import { combine, type Term } from './combine.js';
import type { SchedulerConfig } from './config.js';
import { multistepLevels, plainFlowLevels, type Point, pointAt } from './multistep-levels.js';
import { boundOf, noiseOf, originalOf, predictionOf } from './prediction.js';
import { type Scheduler, unscaled } from './scheduler.js';

const ALGORITHMS = ['dpmsolver', 'dpmsolver++', 'sde-dpmsolver', 'sde-dpmsolver++'] as const;
type Algorithm = (typeof ALGORITHMS)[number];

/** Python takes these configurations of other classes for its own. */
const DEIS = 'deis';
const OTHER_SOLVERS = ['logrho', 'bh1', 'bh2'] as const;

/** With fewer steps the last ones are of a lower order. */
const FEW_STEPS = 15;

/** DPMSolverMultistepScheduler (Lu et al., 2022), and its stochastic kind. */
export function dpmSolver(config: SchedulerConfig): Scheduler {
  const rules = settingsOf(config);
  const { algorithm, order } = rules;
  const levels = multistepLevels(config, {
    rounded:
      config.choice('beta_schedule', KNOWN_BETAS, 'linear') === 'squaredcos_cap_v2' ? [] : ['karras', 'lu'],
    repeatsLast: false,
    flow: plainFlowLevels(config),
  });
  const convert = createConversion(config, algorithm);
  const flow = config.flag('use_flow_sigmas', false);
  return (options) => {
    const { timesteps, sigmas } = levels(options);
    const points = Array.from(sigmas, (sigma) => pointAt(sigma, flow));
    const outputs: Float32Array[] = [];
    return {
      ...{ timesteps, sigmas, initNoiseSigma: 1, scale: unscaled },
      step(output, index, sample, draw) {
        outputs.unshift(convert(output, sample, { point: points[index]!, rows: options.rows ?? 1 }));
        outputs.length = Math.min(outputs.length, order);
        const used = Math.min(outputs.length, rules.mostAt(index, timesteps.length));
        const weights = weightsOf(
          algorithm,
          rules.heun,
          points.slice(index + 2 - used - 1, index + 2).toReversed(),
        );
        const terms = weights.outputs.map((weight, i): Term => [weight, outputs[i]!]);
        if (weights.noise !== undefined) terms.push([weights.noise, draw(sample.length)]);
        return combine([weights.sample, sample], ...terms);
      },
    };
  };
}

const KNOWN_BETAS = ['linear', 'scaled_linear', 'squaredcos_cap_v2'] as const;

function settingsOf(config: SchedulerConfig) {
  const named = config.choice('algorithm_type', [...ALGORITHMS, DEIS], 'dpmsolver++');
  const algorithm = named === DEIS ? 'dpmsolver++' : named;
  const solver = config.choice('solver_type', ['midpoint', 'heun', ...OTHER_SOLVERS], 'midpoint');
  const order = config.number('solver_order', 2);
  const final = config.choice('final_sigmas_type', ['zero', 'sigma_min'], 'zero');
  const refused = ![1, 2, 3].includes(order) || (order === 3 && algorithm === 'sde-dpmsolver');
  if (refused || (final === 'zero' && !algorithm.endsWith('++'))) {
    throw new RunError(
      'not_ready',
      `${config.name} with algorithm_type ${algorithm}, solver_order ${order} and final_sigmas_type ${final} is not supported`,
    );
  }
  const lowers = config.flag('lower_order_final', true);
  const first = config.flag('euler_at_final', false) || final === 'zero';
  return {
    algorithm,
    order,
    heun: solver === 'heun',
    /** Highest order of a step. */
    mostAt(index: number, steps: number): number {
      const few = lowers && steps < FEW_STEPS;
      if (index === steps - 1 && (first || few)) return 1;
      return index === steps - 2 && few ? Math.min(order, 2) : order;
    },
  };
}

/** The network's output as the image (++) or as the noise, whatever it was trained to give. */
function createConversion(config: SchedulerConfig, algorithm: Algorithm) {
  const bound = boundOf(config);
  const toImage = algorithm.endsWith('++');
  const learned = config.choice('variance_type', ['learned', 'learned_range', 'none'], 'none') !== 'none';
  const flows = toImage && config.flag('use_flow_sigmas', false);
  const prediction = predictionOf(config, { flow: flows });
  return (
    given: Float32Array,
    sample: Float32Array,
    { point, rows }: { point: Point; rows: number },
  ): Float32Array => {
    const output = learned && prediction === 'epsilon' ? firstHalves(given, sample.length, rows) : given;
    // Flow outputs go by the noise level as it is.
    if (toImage) {
      const original = originalOf(prediction, output, sample, point);
      return bound ? bound(original, rows) : original;
    }
    const noise = noiseOf(prediction, output, sample, point);
    if (!bound) return noise;
    const original = bound(originalOf('epsilon', noise, sample, point), rows);
    return noiseOf('sample', original, sample, point);
  };
}

/** Without the channels that say how uncertain the network is. */
function firstHalves(output: Float32Array, size: number, rows: number): Float32Array {
  const noise = new Float32Array(size);
  const [row, given] = [size / rows, output.length / rows];
  for (let i = 0; i < rows; i++) noise.set(output.subarray(i * given, i * given + row), i * row);
  return noise;
}

interface Weights {
  sample: number;
  /** Of the outputs, the newest first. */
  outputs: number[];
  noise?: number;
}

/** @param points the level that the step leads to, the one it starts from, and those before */
function weightsOf(algorithm: Algorithm, heun: boolean, points: readonly Point[]): Weights {
  const [to, from, before, first] = points as [Point, Point, Point?, Point?];
  const h = to.lambda - from.lambda;
  const { sample, noise, parts } = STEPS[algorithm](to, from, h);
  const [d0, midpoint, d1, d2] = parts;
  const kept = noise === undefined ? { sample } : { sample, noise };
  if (!before) return { ...kept, outputs: [d0] };
  const r0 = (from.lambda - before.lambda) / h;
  if (!first) {
    const slope = (heun ? d1 : midpoint) / r0;
    return { ...kept, outputs: [d0 + slope, -slope] };
  }
  const r1 = (before.lambda - first.lambda) / h;
  const share = r0 / (r0 + r1);
  // Weights of the two differences between neighbouring outputs.
  const late = (d1 * (1 + share) + d2 / (r0 + r1)) / r0;
  const early = -(d1 * share + d2 / (r0 + r1)) / r1;
  return { ...kept, outputs: [d0 + late, early - late, -early] };
}

interface Step {
  sample: number;
  noise?: number;
  /** Weights of the newest output, and of its first (by midpoint, by Heun) and second derivative. */
  parts: [d0: number, midpoint: number, d1: number, d2: number];
}

const STEPS: Record<Algorithm, (to: Point, from: Point, h: number) => Step> = {
  'dpmsolver++'({ alpha, sigma }, from, h) {
    const e = Math.expm1(-h);
    return {
      sample: sigma / from.sigma,
      parts: [-alpha * e, -0.5 * alpha * e, alpha * (e / h + 1), -alpha * ((e + h) / h ** 2 - 0.5)],
    };
  },
  dpmsolver({ alpha, sigma }, from, h) {
    const e = Math.expm1(h);
    return {
      sample: alpha / from.alpha,
      parts: [-sigma * e, -0.5 * sigma * e, -sigma * (e / h - 1), -sigma * ((e - h) / h ** 2 - 0.5)],
    };
  },
  'sde-dpmsolver++'({ alpha, sigma }, from, h) {
    const e = -Math.expm1(-2 * h);
    return {
      sample: (sigma / from.sigma) * Math.exp(-h),
      noise: sigma * Math.sqrt(e),
      parts: [
        ...([alpha * e, 0.5 * alpha * e, alpha * (e / (-2 * h) + 1)] as const),
        alpha * ((e - 2 * h) / (2 * h) ** 2 - 0.5),
      ],
    };
  },
  'sde-dpmsolver'({ alpha, sigma }, from, h) {
    const e = Math.expm1(h);
    return {
      sample: alpha / from.alpha,
      noise: sigma * Math.sqrt(Math.expm1(2 * h)),
      parts: [-2 * sigma * e, -sigma * e, -2 * sigma * (e / h - 1), 0],
    };
  },
};
