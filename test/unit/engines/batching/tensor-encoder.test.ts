import { setImmediate as turn } from 'node:timers/promises';
import { jest } from '@jest/globals';
import { createTensorEncoder } from '../../../../runtime/engines/batching/tensor-encoder.js';
import type { PooledSession } from '../../../../runtime/engines/sessions/session-pool.js';
import type { Tensors } from '../../../../runtime/engines/sessions/tensors.js';

/** After all that is on its way: what a turn of the event loop starts may end in the next one. */
async function settled(): Promise<void> {
  for (let turns = 0; turns < 4; turns++) await turn();
}

const image = (level: number, width = 2): Tensors => ({
  pixel_values: { type: 'float32', data: new Float32Array(3 * width).fill(level), dims: [1, 3, 1, width] },
});

interface Run {
  dims: readonly number[];
  session: number;
  wide: boolean;
  finish(): void;
}

afterEach(() => jest.restoreAllMocks());

/** An encoder over a graph that gives the first level of each image. Runs are begun at once and end when the test says so. */
async function encoderOf({
  sessions = 1,
  memory = undefined as { limit: number; bodies: number } | undefined,
  usualBytes = 0,
} = {}) {
  let clock = 0;
  let loading = true;
  const runs: Run[] = [];
  jest.spyOn(performance, 'now').mockImplementation(() => clock);
  const runOn = (session: number, wide: boolean) => async (feeds: Tensors) => {
    const { data, dims } = feeds['pixel_values']!;
    if (loading) clock += 1 + 0.1 * dims[0]!;
    else await new Promise<void>((finish) => runs.push({ dims, session, wide, finish }));
    const size = data.length / dims[0]!;
    const levels = Float32Array.from({ length: dims[0]! }, (_, i) => (data as Float32Array)[i * size]!);
    return { logits: { type: 'float32', data: levels, dims: [dims[0]!, 1] } };
  };
  const opened: PooledSession[] = Array.from({ length: sessions }, (_, i) => ({
    run: runOn(i, false),
    runWide: i === 0 && sessions > 1 ? runOn(i, true) : undefined,
  }));
  const encoder = await createTensorEncoder(
    { sessions: opened },
    { sample: image, memory, usualBytes: () => usualBytes },
  );
  loading = false;
  const ask = async (row: Tensors, signal?: AbortSignal, bytes?: number) =>
    Array.from((await encoder.forward(row, signal, bytes))['logits']!.data as Float32Array);
  return { encoder, ask, runs };
}

test('images of one size that wait together share a run, others have their own', async () => {
  const { ask, runs } = await encoderOf();
  const first = ask(image(1));
  await settled();
  const others = [image(2), image(3), image(4, 5), image(5)].map((row) => ask(row));
  runs[0]!.finish();
  expect(await first).toEqual([1]);
  await settled();
  expect(runs[1]!.dims).toEqual([3, 3, 1, 2]);
  runs[1]!.finish();
  await settled();
  expect(runs[2]!.dims).toEqual([1, 3, 1, 5]);
  runs[2]!.finish();
  expect(await Promise.all(others)).toEqual([[2], [3], [4], [5]]);
});

test('a lone image runs on all threads, several at a time side by side', async () => {
  const { ask, runs } = await encoderOf({ sessions: 2 });
  const lone = ask(image(1));
  await settled();
  runs[0]!.finish();
  await lone;
  const both = [ask(image(2)), ask(image(3, 5))];
  await settled();
  expect(runs.map(({ session, wide }) => ({ session, wide }))).toMatchObject([
    { session: 0, wide: true },
    { wide: false },
    { wide: false },
  ]);
  expect(new Set(runs.slice(1).map(({ session }) => session)).size).toBe(2);
  runs.slice(1).forEach(({ finish }) => finish());
  expect(await Promise.all(both)).toEqual([[2], [3]]);
});

test('a caller that leaves is not in the run that comes', async () => {
  const { ask, runs } = await encoderOf();
  const first = ask(image(1));
  await settled();
  const caller = new AbortController();
  const left = ask(image(2), caller.signal);
  const stays = ask(image(3));
  caller.abort(new Error('left'));
  await expect(left).rejects.toThrow('left');
  runs[0]!.finish();
  await first;
  await settled();
  expect(runs.map(({ dims }) => dims[0])).toEqual([1, 1]);
  runs[1]!.finish();
  expect(await stays).toEqual([3]);
});

test('room is what the limit leaves, and never nothing', async () => {
  expect((await encoderOf()).encoder.availableBytes).toBe(Infinity);
  const { encoder } = await encoderOf({ memory: { limit: 1, bodies: 0 } });
  expect(encoder.availableBytes).toBe(8 * 2 ** 20);
});

test('runs that not every session has room for are made one at a time, others beside them', async () => {
  // So little is left that it counts as 8 MiB: 4 for the first session, 2 for each of the two others.
  const { ask, runs } = await encoderOf({ sessions: 2, memory: { limit: 1, bodies: 0 } });
  const large = [1, 2].map((level) => ask(image(level, 5), undefined, 3 * 2 ** 20));
  const small = ask(image(3), undefined, 2 ** 20);
  await settled();
  expect(runs.map(({ dims, session, wide }) => ({ width: dims[3], session, wide }))).toEqual([
    { width: 5, session: 0, wide: true },
    { width: 2, session: 1, wide: false },
  ]);
  runs.forEach(({ finish }) => finish());
  await settled();
  expect(runs[2]).toMatchObject({ session: 0, wide: true });
  runs[2]!.finish();
  expect(await Promise.all([...large, small])).toEqual([[1], [2], [3]]);
});

test('the largest run has half of the room, and rows of usual size have room', async () => {
  const memory = { limit: 1, bodies: 0 };
  expect((await encoderOf()).encoder.largestRun).toBe(Infinity);
  expect((await encoderOf({ memory })).encoder.largestRun).toBe(8 * 2 ** 20);
  expect((await encoderOf({ sessions: 2, memory })).encoder.largestRun).toBe(4 * 2 ** 20);
  const usualBytes = 9 * 2 ** 20;
  const { encoder, ask, runs } = await encoderOf({ sessions: 2, memory, usualBytes });
  expect(encoder.largestRun).toBe(usualBytes);
  const both = [1, 2].map((level) => ask(image(level), undefined, usualBytes));
  await settled();
  expect(runs).toHaveLength(1);
  runs[0]!.finish();
  await settled();
  runs[1]!.finish();
  expect(await Promise.all(both)).toEqual([[1], [2]]);
});
