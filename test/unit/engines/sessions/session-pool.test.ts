import { jest } from '@jest/globals';
import { join } from 'node:path';
import type { Defer, LoadRequest } from '../../../../runtime/core/load-request.js';
import { localHost } from '../../../../runtime/engines/sessions/host.js';
import { openSessionPoolSoon, type SessionPool } from '../../../../runtime/engines/sessions/session-pool.js';
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

function deferred() {
  const work: (() => Promise<void>)[] = [];
  const defer: Defer = (later) => void work.push(later);
  return { work, defer };
}

test('one session answers at first, and all of them once the deferred work is done', async () => {
  const { start, started } = hosts();
  const { work, defer } = deferred();
  const pool = await openSessionPoolSoon(requestFor({ defer }), GRAPH, start);
  expect(pool.sessions).toHaveLength(2);
  const before = await scoresOf(pool);
  expect(before).toHaveLength(3);
  expect(started).toHaveLength(1);

  const underWay = scoresOf(pool);
  for (const each of work) await each();
  expect(await underWay).toEqual(before);
  expect(started).toHaveLength(2);
  expect(started[0]!.close).toHaveBeenCalledWith(0);

  const after = await scoresOf(pool);
  for (const scores of after) expect(scores).toEqual(before[0]);
  expect(started[1]!.run).toHaveBeenCalledTimes(1);
});

test('a copy that fails leaves the first session, and ends the threads that nobody needs', async () => {
  const { start, started } = hosts({ writeOptimized: () => Promise.reject(new Error('no such kernel')) });
  const { work, defer } = deferred();
  const pool = await openSessionPoolSoon(requestFor({ defer }), GRAPH, start);
  for (const each of work) await each();
  expect(await scoresOf(pool)).toHaveLength(3);
  expect(started[0]!.close).not.toHaveBeenCalled();
  expect(started[1]!.end).toHaveBeenCalled();
});

test.each([
  ['memory for one copy only', { memory: { limit: 200e6, bodies: 0 } }],
  ['one worker', { workers: 1 }],
])('with %s nothing is deferred', async (_, more) => {
  const { start } = hosts();
  const { work, defer } = deferred();
  const pool = await openSessionPoolSoon(requestFor({ defer, ...more }), GRAPH, start);
  expect(work).toEqual([]);
  expect(pool.defer).toBeUndefined();
  expect(await scoresOf(pool)).not.toEqual([]);
});
