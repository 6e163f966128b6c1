import { setImmediate as turn } from 'node:timers/promises';
import { createRowBatcher } from '../../../../runtime/engines/batching/row-batcher.js';
import { takeRowCounts } from '../../../../runtime/engines/batching/row-counts.js';
import type { PooledSession } from '../../../../runtime/engines/sessions/session-pool.js';

/** After all that is on its way: what a turn of the event loop starts may end in the next one. */
async function settled(): Promise<void> {
  for (let turns = 0; turns < 3; turns++) await turn();
}

interface Batch {
  rows: number[];
  wide: boolean;
  finish(): void;
}

/** A batcher over rows that are their own length; runs end when the test says so. */
function batcher({
  sessions = 1,
  wide = false,
  longest = Infinity,
  limits = { tokens: 64, padding: 0.25 },
} = {}) {
  const started: Batch[] = [];
  const narrowRun: PooledSession['run'] = async () => ({});
  const wideRun: PooledSession['run'] = async () => ({});
  const made = createRowBatcher<number, string>({
    sessions: Array.from({ length: sessions }, (_, i) => ({
      run: narrowRun,
      runWide: wide && i === 0 ? wideRun : undefined,
    })),
    limits,
    lengthOf: (row) => Math.abs(row),
    needsFirst: (row) => row > longest,
    async compute(rows, run) {
      await new Promise<void>((resolve) => started.push({ rows, wide: run === wideRun, finish: resolve }));
      if (rows.some((row) => row < 0)) throw new Error('a bad row');
      return rows.map((row) => `result of ${row}`);
    },
  });
  return { forward: made.forward, started };
}

test('what queues while a run is under way is the next run', async () => {
  const { forward, started } = batcher();
  const first = forward(8);
  await settled();
  const others = [forward(9), forward(8), forward(9)];
  await settled();
  expect(started.map(({ rows }) => rows)).toEqual([[8]]);
  started[0]!.finish();
  expect(await first).toBe('result of 8');
  await settled();
  expect(started[1]!.rows.toSorted((a, b) => a - b)).toEqual([8, 9, 9]);
  started[1]!.finish();
  expect(await Promise.all(others)).toEqual(['result of 9', 'result of 8', 'result of 9']);
});

test('rows that come together are shared among the free sessions', async () => {
  const { forward, started } = batcher({ sessions: 2 });
  for (let i = 0; i < 4; i++) void forward(10);
  await settled();
  expect(started.map(({ rows }) => rows)).toEqual([
    [10, 10],
    [10, 10],
  ]);
});

test('only a row that has the machine to itself runs on all threads', async () => {
  const { forward, started } = batcher({ sessions: 2, wide: true });
  const lone = forward(10);
  await settled();
  void forward(11);
  await settled();
  expect(started.map(({ rows, wide }) => ({ rows, wide }))).toEqual([
    { rows: [10], wide: true },
    { rows: [11], wide: false },
  ]);
  started[0]!.finish();
  await lone;
  void forward(12);
  await settled();
  expect(started[2]).toMatchObject({ rows: [12], wide: false });
});

test('a row that fails fails no other row of its run', async () => {
  const { forward, started } = batcher();
  const results = Promise.allSettled([forward(10), forward(-10), forward(10)]);
  for (let run = 0; run < 4; run++) {
    await settled();
    started[run]!.finish();
  }
  expect((await results).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});

test('a caller that leaves takes its row out of the queue', async () => {
  const { forward, started } = batcher();
  const first = forward(8);
  await settled();
  const caller = new AbortController();
  const left = forward(9, caller.signal);
  caller.abort(new Error('left'));
  await expect(left).rejects.toThrow('left');
  started[0]!.finish();
  await first;
  await settled();
  expect(started).toHaveLength(1);
  expect(() => forward(9, caller.signal)).toThrow('left');
});

test('rows that only the first session has memory for wait for it, on all threads, while others go on', async () => {
  const { forward, started } = batcher({ sessions: 2, wide: true, longest: 50 });
  const first = forward(10);
  await settled();
  const [long, short] = [forward(60), forward(11)];
  await settled();
  expect(started.map(({ rows }) => rows)).toEqual([[10], [11]]);
  started[1]!.finish();
  await short;
  await settled();
  expect(started).toHaveLength(2);
  void forward(12);
  started[0]!.finish();
  await first;
  await settled();
  expect(started.slice(2)).toMatchObject([
    { rows: [60], wide: true },
    { rows: [12], wide: false },
  ]);
  started[2]!.finish();
  expect(await long).toBe('result of 60');
});

test('two such rows take turns', async () => {
  const { forward, started } = batcher({ sessions: 3, wide: true, longest: 50 });
  const both = [forward(60), forward(61)];
  await settled();
  expect(started.map(({ rows }) => rows)).toEqual([[60]]);
  started[0]!.finish();
  await both[0];
  await settled();
  expect(started[1]).toMatchObject({ rows: [61], wide: true });
});

test('rows of each run are counted, once', async () => {
  takeRowCounts();
  const { forward, started } = batcher();
  const results = [forward(8), forward(8), forward(9)];
  await settled();
  for (const batch of started) batch.finish();
  await Promise.all(results);
  const counts = takeRowCounts();
  expect(counts.reduce((sum, [rows, runs]) => sum + rows * runs, 0)).toBe(3);
  expect(counts.reduce((sum, [, runs]) => sum + runs, 0)).toBe(started.length);
  expect(takeRowCounts()).toEqual([]);
});
