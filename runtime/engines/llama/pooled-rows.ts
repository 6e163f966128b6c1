import { RunError } from '../../core/errors.js';
import { countRows } from '../batching/row-counts.js';
import type { BatchToken, Pooling } from './llama.js';
import type { OpenedModel } from './open-model.js';
import { createSerialContext, type SerialContext } from './serial-context.js';
import { measuredThreads } from './threads.js';

/** Rows of texts, each computed whole; those that wait together share a run. */
export interface PooledRows {
  /** Most tokens of a row. */
  readonly longest: number;
  /** The pooled vector of a row, or the scores of its classes. */
  vector(ids: readonly number[], signal?: AbortSignal): Promise<Float32Array>;
  /** The vectors of all of its tokens; only without pooling. */
  states(
    ids: readonly number[],
    signal?: AbortSignal,
  ): Promise<{ values: Float32Array; tokens: number; width: number }>;
}

interface Waiting {
  ids: readonly number[];
  signal: AbortSignal | undefined;
  resolve(vectors: Float32Array[]): void;
  reject(error: unknown): void;
}

/** Most tokens of a run, and so of a row: attention that sees later tokens takes the whole row at once. */
const MOST_TOKENS = 2048;
const MOST_ROWS = 32;
const CELL_STEP = 256;

export async function createPooledRows(
  { model, shape }: OpenedModel,
  pooling: Pooling,
  threads: number,
): Promise<PooledRows> {
  const longest = Math.min(MOST_TOKENS, model.trainedLength || MOST_TOKENS);
  const cells = Math.ceil(longest / CELL_STEP) * CELL_STEP;
  const native = await model.openContext({
    ...{ cells, batch: longest, outputs: longest, rows: MOST_ROWS, threads, pooling },
    cacheType: shape.cacheType,
  });
  native.setThreads(await measuredThreads(native, threads));
  const context = createSerialContext(native);
  const waiting: Waiting[] = [];
  let running = false;

  async function work(): Promise<void> {
    running = true;
    // Those that come in the same turn share a run.
    await Promise.resolve();
    while (waiting.length > 0) await runTogether(context, takeRows(waiting, longest), pooling);
    running = false;
  }

  const ask = (ids: readonly number[], signal: AbortSignal | undefined): Promise<Float32Array[]> => {
    if (ids.length === 0) throw new RunError('invalid_input', 'text: has no tokens');
    return new Promise((resolve, reject) => {
      waiting.push({ ids, signal, resolve, reject });
      if (!running) void work();
    });
  };

  return {
    longest,
    vector: async (ids, signal) => (await ask(ids, signal))[0]!,
    async states(ids, signal) {
      const vectors = await ask(ids, signal);
      const width = vectors[0]!.length;
      const values = new Float32Array(ids.length * width);
      for (const [i, vector] of vectors.entries()) values.set(vector, i * width);
      return { values, tokens: ids.length, width };
    },
  };
}

/** As many from the front as a run takes; those who left are told. */
function takeRows(waiting: Waiting[], most: number): Waiting[] {
  const taken: Waiting[] = [];
  let room = most;
  while (waiting.length > 0 && taken.length < MOST_ROWS) {
    const [next] = waiting;
    if (next!.signal?.aborted) {
      waiting.shift()!.reject(next!.signal.reason);
      continue;
    }
    if (next!.ids.length > room) break;
    room -= next!.ids.length;
    taken.push(waiting.shift()!);
  }
  return taken;
}

async function runTogether(
  context: SerialContext,
  rows: readonly Waiting[],
  pooling: Pooling,
): Promise<void> {
  if (rows.length === 0) return;
  countRows(rows.length);
  const tokens = rows.flatMap(({ ids }, row) =>
    ids.map((id, position): BatchToken => ({ id, position, row, output: true })),
  );
  try {
    for (const row of rows.keys()) context.emptyRow(row);
    const outcome = await context.run(tokens);
    if (outcome !== 'done') throw new RunError('engine_failed', `llama.cpp ended the run: ${outcome}`);
    let at = 0;
    // Views, which the next run writes over.
    const found = rows.map(({ ids }, row) => {
      const from = at;
      at += ids.length;
      return pooling === 'none'
        ? ids.map((_, i) => context.vector(from + i).slice())
        : [context.pooled(row).slice()];
    });
    for (const [row, { resolve }] of rows.entries()) resolve(found[row]!);
  } catch (error) {
    for (const { reject } of rows) reject(error);
  }
}
