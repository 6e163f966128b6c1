import type { LlamaContext } from './llama.js';

/** Steps that are timed with each number of threads, after one that is not. */
const STEPS = 3;

/**
 * How many threads to compute with: all, or half of them as long as that is faster. Threads wait for each other at each operation,
 * spinning; where others use the cores, more of them take ten times as long. Leaves the context empty.
 */
export async function measuredThreads(
  context: Pick<LlamaContext, 'run' | 'cutRow' | 'setThreads'>,
  threads: number,
): Promise<number> {
  if (threads <= 1) return 1;
  const times = new Map([[threads, await timed(context, threads)]]);
  let chosen = threads;
  for (let fewer = threads >> 1; fewer >= 1; fewer >>= 1) {
    times.set(fewer, await timed(context, fewer));
    if (times.get(fewer)! >= times.get(chosen)!) break;
    chosen = fewer;
  }
  const tried = [...times].map(([count, time]) => `${time.toFixed(1)} ms with ${count}`).join(', ');
  process.stderr.write(`llama.cpp: ${chosen} of ${threads} threads (a token takes ${tried})\n`);
  return chosen;
}

/** Milliseconds of the quickest step. */
async function timed(
  context: Pick<LlamaContext, 'run' | 'cutRow' | 'setThreads'>,
  threads: number,
): Promise<number> {
  context.setThreads(threads);
  const times: number[] = [];
  for (let position = 0; position <= STEPS; position++) {
    const started = performance.now();
    await context.run([{ id: 0, position, row: 0, output: true }]);
    times.push(performance.now() - started);
  }
  context.cutRow(0, 0);
  return Math.min(...times.slice(1));
}
