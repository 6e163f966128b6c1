import { jest } from '@jest/globals';
import { join } from 'node:path';
import type { LoadRequest } from '../../../../runtime/core/load-request.js';
import { localHost } from '../../../../runtime/engines/sessions/host.js';
import { openSessionPoolOnDemand } from '../../../../runtime/engines/sessions/growing-pool.js';
import type { SessionPool } from '../../../../runtime/engines/sessions/session-pool.js';
import type { SessionThread } from '../../../../runtime/engines/sessions/thread-host.js';
import { toFloat32 } from '../../../../runtime/engines/sessions/tensors.js';

const GRAPH = join('test/fixtures/zoo/fill-mask/bert/repo/onnx/model.onnx');

function hosts(change: Partial<SessionThread> = {}) {
  const started: SessionThread[] = [];
  const start = () => {
    const end = jest.fn<() => Promise<unknown>>(async () => {});
    const host = { ...localHost(), end, ...change };
    jest.spyOn(host, 'run');
    jest.spyOn(host, 'close');
    jest.spyOn(host, 'writeOptimized');
    started.push(host);
    return host;
  };
  return { start, started };
}

function requestFor(more: Partial<LoadRequest>): LoadRequest {
  const spec = { files: [{ path: 'onnx/model.onnx', size: 1000, sha256: '' }] };
  return { spec, device: 'cpu', threads: 2, workers: 2, copyWeights: false, ...more } as LoadRequest;
}

function row() {
  const ids = (values: number[]) => ({
    type: 'int64',
    data: BigInt64Array.from(values, BigInt),
    dims: [1, values.length],
  });
  return {
    input_ids: ids([2, 7, 9, 3]),
    attention_mask: ids([1, 1, 1, 1]),
    token_type_ids: ids([0, 0, 0, 0]),
  };
}

async function scoresOf({ sessions }: SessionPool): Promise<Float32Array[]> {
  const runs = sessions.flatMap(({ run, runWide }) => [run(row()), ...(runWide ? [runWide(row())] : [])]);
  return (await Promise.all(runs)).map((outputs) => toFloat32(outputs['logits']!));
}

/** Until what was begun by a run is through. */
async function until(condition: () => boolean): Promise<void> {
  for (let i = 0; i < 500 && !condition(); i++) await new Promise((resolve) => setTimeout(resolve, 10));
  expect(condition()).toBe(true);
}

test('on demand, the others are made when two runs meet, and what is deferred follows', async () => {
  const { start, started } = hosts();
  const pool = await openSessionPoolOnDemand(requestFor({ mayGrow: true }), GRAPH, start);
  const followed = jest.fn<() => Promise<void>>(async () => {});
  pool.defer!(followed);
  const [first, second] = pool.sessions;
  const alone = toFloat32((await first!.runWide!(row()))['logits']!);
  expect(toFloat32((await first!.run(row()))['logits']!)).toEqual(alone);
  expect(started).toHaveLength(1);

  expect(toFloat32((await second!.run(row()))['logits']!)).toEqual(alone);
  await until(() => followed.mock.calls.length === 1);
  expect(started).toHaveLength(2);
  expect(started[0]!.close).toHaveBeenCalledWith(0);
  for (const scoresAfter of await scoresOf(pool)) expect(scoresAfter).toEqual(alone);
  expect(started).toHaveLength(2);
});

test('on demand, with memory for one copy only, the first session ends before the others are made, and runs wait', async () => {
  const { start, started } = hosts();
  const memory = { limit: 200e6, bodies: 0 };
  const pool = await openSessionPoolOnDemand(requestFor({ mayGrow: true, memory }), GRAPH, start);
  const alone = await scoresOf({ ...pool, sessions: pool.sessions.slice(0, 1) });
  expect(started).toHaveLength(1);

  // Three at the same time: the first two begin before the third shows that sessions are wanted.
  const together = scoresOf(pool);
  const meanwhile = scoresOf(pool);
  for (const scores of [...(await together), ...(await meanwhile)]) expect(scores).toEqual(alone[0]);
  expect(started).toHaveLength(2);
  const [closed] = jest.mocked(started[0]!.close).mock.invocationCallOrder;
  const [written] = jest.mocked(started[1]!.writeOptimized).mock.invocationCallOrder;
  expect(closed).toBeLessThan(written!);
});

test('on demand, a copy that fails leaves the first session, and ends the threads that nobody needs', async () => {
  const { start, started } = hosts({ writeOptimized: () => Promise.reject(new Error('no such kernel')) });
  const pool = await openSessionPoolOnDemand(requestFor({ mayGrow: true }), GRAPH, start);
  const before = await scoresOf(pool);
  await until(() => jest.mocked(started[1]!.end).mock.calls.length === 1);
  expect(await scoresOf(pool)).toEqual(before);
  expect(started[0]!.close).not.toHaveBeenCalled();
});

test('on demand, where no copy can be made the first session is opened again', async () => {
  const { start, started } = hosts({ writeOptimized: () => Promise.reject(new Error('no such kernel')) });
  const memory = { limit: 200e6, bodies: 0 };
  const pool = await openSessionPoolOnDemand(requestFor({ mayGrow: true, memory }), GRAPH, start);
  expect(await scoresOf(pool)).toHaveLength(3);
  await until(() => jest.mocked(started[1]!.end).mock.calls.length === 1);
  const [first, ...others] = await scoresOf(pool);
  for (const other of others) expect(other).toEqual(first);
});

test.each([
  ['one worker', { workers: 1 }],
  ['no session that may be added later', { mayGrow: undefined }],
])('on demand, with %s all is there at once', async (_, more) => {
  const { start } = hosts();
  const pool = await openSessionPoolOnDemand(requestFor({ mayGrow: true, ...more }), GRAPH, start);
  expect(pool.defer).toBeUndefined();
});
