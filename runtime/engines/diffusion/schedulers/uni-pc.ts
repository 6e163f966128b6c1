import { RunError } from '../../../core/errors.js';
import { combine, type Term } from './combine.js';
import type { SchedulerConfig } from './config.js';
import { flowLevels, multistepLevels, type Point, pointAt } from './multistep-levels.js';
import { boundOf, noiseOf, originalOf, predictionOf } from './prediction.js';
import { type Scheduler, unscaled } from './scheduler.js';

const MAX_ORDER = 6;

/** UniPCMultistepScheduler (Zhao et al., 2023): each output first corrects the step before, then predicts the next. */
export function uniPc(config: SchedulerConfig): Scheduler {
  config.refuse('solver_p');
  const { order: most, lowers, uncorrected, kind } = settingsOf(config);
  const levels = multistepLevels(config, {
    rounded: ['karras'],
    repeatsLast: true,
    flow: flowLevels(config),
  });
  const flow = config.flag('use_flow_sigmas', false);
  const convert = createConversion(config, kind.toImage);
  return (options) => {
    const { timesteps, sigmas } = levels(options);
    const points = Array.from(sigmas, (sigma) => pointAt(sigma, flow));
    const outputs: Float32Array[] = [];
    let last: { sample: Float32Array; order: number } | undefined;

    /** Moves from one level to the next; `fresh` is the output there, where it is known already. */
    function move(to: number, from: Float32Array, order: number, fresh?: Float32Array): Float32Array {
      const around = points.slice(to - order, to + 1).toReversed();
      const weights = stepWeights(kind, around, fresh !== undefined);
      const known = fresh ? [...outputs.slice(0, order), fresh] : outputs;
      return combine(
        [weights.sample, from],
        ...weights.outputs.map((weight, i): Term => [weight, known[i]!]),
      );
    }

    return {
      ...{ timesteps, sigmas, initNoiseSigma: 1, scale: unscaled },
      step(output, index, given) {
        const found = convert(output, given, { point: points[index]!, rows: options.rows ?? 1 });
        const corrects = last && !uncorrected.includes(index - 1);
        const sample = corrects ? move(index, last!.sample, last!.order, found) : given;
        outputs.unshift(found);
        outputs.length = Math.min(outputs.length, most);
        const order = Math.min(outputs.length, lowers ? timesteps.length - index : most);
        last = { sample, order };
        return move(index + 1, sample, order);
      },
    };
  };
}

interface Kind {
  toImage: boolean;
  /** B(h) = h, not e^h - 1. */
  linear: boolean;
}

function settingsOf(config: SchedulerConfig) {
  const solver = config.choice('solver_type', ['bh1', 'bh2', 'midpoint', 'heun', 'logrho'], 'bh2');
  const order = config.number('solver_order', 2);
  if (!Number.isInteger(order) || order < 1 || order > MAX_ORDER)
    throw new RunError('not_ready', `${config.name} with solver_order ${order} is not supported`);
  return {
    order,
    lowers: config.flag('lower_order_final', true),
    /** Steps after which nothing is corrected. */
    uncorrected: config.numbers('disable_corrector') ?? [],
    kind: { toImage: config.flag('predict_x0', true), linear: solver === 'bh1' },
  };
}

function createConversion(config: SchedulerConfig, toImage: boolean) {
  const bound = boundOf(config);
  const flows = toImage && config.flag('use_flow_sigmas', false);
  const prediction = predictionOf(config, { flow: flows });
  return (
    output: Float32Array,
    sample: Float32Array,
    { point, rows }: { point: Point; rows: number },
  ): Float32Array => {
    if (!toImage) return noiseOf(prediction, output, sample, point);
    const original = originalOf(prediction, output, sample, point);
    return bound ? bound(original, rows) : original;
  };
}

interface Weights {
  sample: number;
  /** Of the outputs, the newest of the level that the step starts from first; then the fresh one. */
  outputs: number[];
}

/** @param points the level that the step leads to, the one it starts from, and those before */
function stepWeights({ toImage, linear }: Kind, points: readonly Point[], corrects: boolean): Weights {
  const [to, from, ...before] = points as [Point, Point, ...Point[]];
  const h = to.lambda - from.lambda;
  const hh = toImage ? -h : h;
  const phi = Math.expm1(hh);
  const scale = linear ? hh : phi;
  const ratios = before.map(({ lambda }) => (lambda - from.lambda) / h);
  const rhos = rhosOf(ratios, { hh, phi, scale, corrects });
  const weight = toImage ? to.alpha : to.sigma;
  const outputs = [-weight * phi, ...ratios.map(() => 0)];
  for (const [i, rho] of rhos.entries()) {
    const part = (-weight * scale * rho) / (ratios[i] ?? 1);
    outputs[0]! -= part;
    outputs[i + 1] = part;
  }
  return { sample: toImage ? to.sigma / from.sigma : to.alpha / from.alpha, outputs };
}

interface Growth {
  hh: number;
  phi: number;
  scale: number;
  corrects: boolean;
}

/** Weights of the differences to the newest output; the last is that of the fresh one, where there is one. */
function rhosOf(ratios: readonly number[], { hh, phi, scale, corrects }: Growth): number[] {
  const order = ratios.length + 1;
  if (corrects && order === 1) return [0.5];
  if (!corrects && order <= 2) return order === 1 ? [] : [0.5];
  const nodes = [...ratios, 1];
  const right: number[] = [];
  let [factorial, term] = [1, phi / hh - 1];
  for (let i = 1; i <= order; i++) {
    right.push((term * factorial) / scale);
    factorial *= i + 1;
    term = term / hh - 1 / factorial;
  }
  const size = corrects ? order : order - 1;
  const rows = Array.from({ length: size }, (_, i) => nodes.slice(0, size).map((node) => node ** i));
  return solve(rows, right.slice(0, size));
}

/** Solves a small system of linear equations, by elimination with the largest pivot. */
function solve(matrix: readonly (readonly number[])[], right: readonly number[]): number[] {
  const rows = matrix.map((row, i) => [...row, right[i]!]);
  const size = rows.length;
  for (let column = 0; column < size; column++) {
    const rest = rows.slice(column);
    const largest = rest.reduce((best, row) =>
      Math.abs(row[column]!) > Math.abs(best[column]!) ? row : best,
    );
    const at = rows.indexOf(largest, column);
    [rows[column], rows[at]] = [largest, rows[column]!];
    for (const [i, row] of rows.entries()) {
      if (i === column) continue;
      const factor = row[column]! / largest[column]!;
      for (let j = column; j <= size; j++) row[j]! -= factor * largest[j]!;
    }
  }
  return rows.map((row, i) => row[size]! / row[i]!);
}
