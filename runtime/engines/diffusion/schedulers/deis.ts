import { RunError } from '../../../core/errors.js';
import { combine, type Term } from './combine.js';
import type { SchedulerConfig } from './config.js';
import { multistepLevels, plainFlowLevels, type Point, pointAt } from './multistep-levels.js';
import { boundOf, noiseOf, originalOf, predictionOf } from './prediction.js';
import { type Scheduler, unscaled } from './scheduler.js';

/** With fewer steps the last ones are of a lower order. */
const FEW_STEPS = 15;

/** DEISMultistepScheduler (Zhang and Chen, 2022): polynomials in the logarithm of the noise level, integrated. */
export function deis(config: SchedulerConfig): Scheduler {
  const order = config.number('solver_order', 2);
  if (![1, 2, 3].includes(order))
    throw new RunError('not_ready', `${config.name} with solver_order ${order} is not supported`);
  const lowers = config.flag('lower_order_final', true);
  const flow = config.flag('use_flow_sigmas', false);
  const levels = multistepLevels(config, {
    ...{ rounded: ['karras'], repeatsLast: true, flow: plainFlowLevels(config), final: 'sigma_min' },
    ...{ rescales: false },
  });
  const convert = createConversion(config, flow);
  return (options) => {
    const { timesteps, sigmas } = levels(options);
    const points = Array.from(sigmas, (sigma) => pointAt(sigma, flow));
    const outputs: Float32Array[] = [];
    return {
      ...{ timesteps, sigmas, initNoiseSigma: 1, scale: unscaled },
      step(output, index, sample) {
        outputs.unshift(convert(output, sample, { point: points[index]!, rows: options.rows ?? 1 }));
        outputs.length = Math.min(outputs.length, order);
        const left = lowers && timesteps.length < FEW_STEPS ? timesteps.length - index : order;
        const used = Math.min(outputs.length, left);
        const known = points.slice(index + 1 - used, index + 1).toReversed();
        const to = points[index + 1]!;
        const terms = weightsOf(to, known).map((weight, i): Term => [weight, outputs[i]!]);
        return combine([to.alpha / known[0]!.alpha, sample], ...terms);
      },
    };
  };
}

/** The network's output as the noise. */
function createConversion(config: SchedulerConfig, flow: boolean) {
  const bound = boundOf(config);
  const prediction = predictionOf(config, { flow });
  return (
    output: Float32Array,
    sample: Float32Array,
    { point, rows }: { point: Point; rows: number },
  ): Float32Array => {
    const original = originalOf(prediction, output, sample, point);
    return noiseOf('sample', bound ? bound(original, rows) : original, sample, point);
  };
}

/** Of the outputs at the known points, the newest first. */
function weightsOf(to: Point, known: readonly Point[]): number[] {
  const [from] = known as [Point];
  if (known.length === 1) return [-to.sigma * Math.expm1(to.lambda - from.lambda)];
  const logs = known.map(({ lambda }) => -lambda);
  const whole = (log: number, own: number) =>
    integralTo(log, { own: logs[own]!, others: logs.filter((_, i) => i !== own) });
  return known.map((_, i) => to.alpha * (whole(-to.lambda, i) - whole(logs[0]!, i)));
}

/** Of the polynomial in ln t that is 1 at `own` and 0 at the others, integrated over t up to exp(log). */
function integralTo(log: number, { own, others }: { own: number; others: readonly number[] }): number {
  const [c, d] = others as [number, number?];
  const t = Math.exp(log);
  if (d === undefined) return (t * (log - c - 1)) / (own - c);
  const numerator = t * (c * (d - log + 1) - d * log + d + log ** 2 - 2 * log + 2);
  return numerator / ((own - c) * (own - d));
}
