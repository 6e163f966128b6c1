import type { Defer } from '../../core/load-request.js';
import type { Tensors } from '../sessions/tensors.js';
import { agreeTogether, type Compute } from './agree-together.js';
import type { BatchLimits } from './pick-batch.js';

const SINGLE: BatchLimits = { tokens: 0, padding: 0 };

/** Padding beyond this costs more than the runs that it saves. */
const MOST_PADDING = 0.25;

export interface Trial<Row> {
  compute: Compute<Row>;
  /** A row of at most this length; another one for another seed. */
  sample(length: number, seed: number): Row;
}

/**
 * Finds by trial what may share a run of this graph. Rows of different length may where padding changes no answer; rows
 * of one length where company changes none (dynamic quantisation takes its scale from all rows of a run, so there
 * nothing may be shared). Then measures how many tokens make a run worth its while.
 */
export async function findBatchLimits<Row>(trial: Trial<Row>): Promise<BatchLimits> {
  try {
    const padding = (await agree(trial, [5, 12])) ? MOST_PADDING : 0;
    if (padding === 0 && !(await agree(trial, [9, 9]))) return SINGLE;
    return { tokens: await findTokens(trial), padding };
  } catch {
    // A graph for one row at a time.
    return SINGLE;
  }
}

/** What `find` finds; with `defer` nothing shares a run until it has been called. */
export async function findLimits(
  find: () => Promise<BatchLimits>,
  defer: Defer | undefined,
): Promise<BatchLimits> {
  if (!defer) return find();
  const limits = { ...SINGLE };
  defer(async () => void Object.assign(limits, await find()));
  return limits;
}

const agree = <Row>({ compute, sample }: Trial<Row>, lengths: number[]): Promise<boolean> =>
  agreeTogether(compute, lengths.map(sample));

/**
 * A run of this many milliseconds leaves little to gain by a longer one, and keeps those who come meanwhile waiting no
 * longer than that.
 */
export const LONG_RUN = 100;
/** Most numbers that a run may give: scores over a large vocabulary for each token add up. */
const MOST_NUMBERS = 2 ** 25;
const SMALLEST = 64;
const LARGEST = 4096;
/** Length of the rows that are tried. */
const ROW = 32;

/** The most tokens, in powers of two, that take no longer than a long run. */
async function findTokens<Row>(trial: Trial<Row>): Promise<number> {
  const rows = Array.from({ length: SMALLEST / ROW }, () => trial.sample(ROW, 0));
  const times: number[] = [];
  let numbers = 0;
  for (let run = 0; run < 3; run++) {
    const started = performance.now();
    const results = await trial.compute(rows);
    times.push(performance.now() - started);
    numbers = results.flatMap(Object.values<Tensors[string]>).reduce((sum, { data }) => sum + data.length, 0);
  }
  const doublings = Math.floor(Math.log2(Math.min(LONG_RUN / Math.min(...times), MOST_NUMBERS / numbers)));
  return Math.min(LARGEST, SMALLEST * 2 ** Math.max(0, doublings));
}
