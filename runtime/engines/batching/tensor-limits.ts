import type { Tensors } from '../sessions/tensors.js';
import { agreeTogether, type Compute } from './agree-together.js';
import { LONG_RUN } from './batch-limits.js';
import type { BatchLimits } from './pick-batch.js';
import { numbersOf } from './tensor-rows.js';

export interface TensorTrial<Row extends Tensors = Tensors> {
  compute: Compute<Row>;
  /** A row of usual size; another one for another seed. */
  sample(seed: number): Row;
  /** How large a row is beside others; the numbers that it has if absent. */
  lengthOf?(row: Row): number;
  /** Whether there is memory for twice as many rows a run as have been tried. */
  mayDouble(): boolean;
}

const SINGLE: BatchLimits = { tokens: 0, padding: 0 };

const MOST_ROWS = 16;
/** Twice as many rows are worth it where each of them takes no more than this share of the time. */
const WORTH = 0.9;

/**
 * Finds by trial how many rows of tensors a run should have. Large rows keep a core busy by themselves, and gain
 * nothing in company; small ones do until their run is a long one. Rows that would get other answers in company stay
 * alone.
 */
export async function findTensorLimits<Row extends Tensors>(trial: TensorTrial<Row>): Promise<BatchLimits> {
  try {
    const rows = await findRows(trial);
    const samples = [trial.sample(0), trial.sample(1)];
    const tokens = rows * (trial.lengthOf ?? numbersOf)(samples[0]!);
    return rows > 1 && (await agreeTogether(trial.compute, samples)) ? { tokens, padding: 0 } : SINGLE;
  } catch {
    // A graph for one row at a time.
    return SINGLE;
  }
}

async function findRows<Row extends Tensors>(trial: TensorTrial<Row>): Promise<number> {
  // The first run takes memory and reads weights: it says little about the others.
  await timeOf(trial, 1);
  let [rows, each] = [1, await timeOf(trial, 1)];
  if (2 * each > LONG_RUN) return 1;
  each = Math.min(each, await quickest(trial, 1));
  while (2 * rows <= MOST_ROWS && 2 * rows * each <= LONG_RUN && trial.mayDouble()) {
    const next = (await quickest(trial, 2 * rows)) / (2 * rows);
    if (next > WORTH * each) break;
    [rows, each] = [2 * rows, next];
  }
  return rows;
}

async function quickest<Row extends Tensors>(trial: TensorTrial<Row>, rows: number): Promise<number> {
  return Math.min(await timeOf(trial, rows), await timeOf(trial, rows), await timeOf(trial, rows));
}

async function timeOf<Row extends Tensors>(
  { compute, sample }: TensorTrial<Row>,
  rows: number,
): Promise<number> {
  const samples = Array.from({ length: rows }, (_, seed) => sample(seed));
  const started = performance.now();
  await compute(samples);
  return performance.now() - started;
}
