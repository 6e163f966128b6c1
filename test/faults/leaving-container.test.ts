import type { Server } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { TaskId } from '../../runtime/core/task-ids.js';
import type { LoadRequest } from '../../runtime/core/load-request.js';
import type { FetchMedia } from '../../runtime/media/fetch-media.js';
import { PICTURE } from '../../runtime/tasks/example.js';
import { createByteBudget } from '../../runtime/wire/byte-budget.js';
import { createHttpServer } from '../../runtime/wire/server.js';
import type { ToEngine } from '../../runtime/worker/protocol.js';
import { createScheduler } from '../../runtime/worker/scheduler.js';
import { createSupervisor, type Supervisor } from '../../runtime/worker/supervisor.js';
import { fakeApp } from '../fakes/app.js';
import { type FakeEngine, fakeEngines, READY } from '../fakes/engine.js';
import { closeServers, started } from '../fakes/gateway.js';
import {
  atRest,
  bytesOf,
  type Gauges,
  leaveAnywhere,
  leaveAtEveryAwait,
  sendAheadAndLeave,
} from '../fakes/leaving.js';

/** Whoever leaves a model's own server, and whenever: nothing stays held for them, and nothing goes on. */

let supervisor: Supervisor | undefined;
afterEach(async () => {
  await closeServers();
  await supervisor?.stop();
});

/** Answers each run in pieces, until it is told to stop; says how many runs it is at. */
function answering(engine: FakeEngine) {
  const open = new Set<number>();
  const run = async ({ id, deltas }: Extract<ToEngine, { type: 'run' }>) => {
    open.add(id);
    for (let step = 0; step < 6 && open.has(id); step++) {
      if (deltas) engine.say({ type: 'delta', id, delta: { text: 'word ' } });
      await turn();
    }
    if (open.delete(id)) engine.say({ type: 'done', id, output: 'word' });
    else engine.say({ type: 'failed', id, error: { code: 'cancelled', message: 'cancelled' } });
  };
  engine.received.push = (message: ToEngine) => {
    if (message.type === 'run') void run(message);
    if (message.type === 'cancel') open.delete(message.id);
    return 0;
  };
  engine.say(READY);
  return () => open.size;
}

const picture: FetchMedia = async (_url, signal, onBytes) => {
  for (let i = 0; i < 4; i++) {
    signal.throwIfAborted();
    onBytes?.(1000);
    await turn();
  }
  return Buffer.from(PICTURE, 'base64');
};

/** @param concurrency 1: whoever comes while another is there waits in the queue */
async function watchedServer(
  task: TaskId,
  { concurrency = 4, startTurns = 0 } = {},
): Promise<{ server: Server; gauges: Gauges }> {
  let openRuns = () => 0;
  const { open } = fakeEngines(async (engine) => {
    for (let i = 0; i < startTurns; i++) await turn();
    openRuns = answering(engine);
  });
  supervisor = createSupervisor({ open, onState: () => {} });
  const scheduler = createScheduler({
    ...{ supervisor, concurrency, maxQueue: 1000, timeoutMs: 60_000, cancelGraceMs: 60_000 },
    onKill: () => {},
  });
  const budget = createByteBudget(2 ** 24);
  const app = fakeApp({ task, budget, fetchMedia: picture, run: scheduler.run, requiredKey: 'K' });
  supervisor.start(async () => ({}) as LoadRequest);
  const server = createHttpServer(app);
  await started(server);
  const gauges = () => ({
    'bytes held': budget.held,
    running: scheduler.running,
    queued: scheduler.queued,
    'runs of the engine': openRuns(),
  });
  return { server, gauges };
}

const HEADERS = { authorization: 'K', 'content-type': 'application/json' };
const post = (body: object | Buffer, headers = {}) =>
  bytesOf('POST', '/run', { ...HEADERS, ...headers }, Buffer.isBuffer(body) ? body : JSON.stringify(body));

const text = { text: 'x'.repeat(3000) };

const REQUESTS: [name: string, task: TaskId, Buffer][] = [
  ['a text', 'text-generation', post(text)],
  ['a stream', 'text-generation', post({ ...text, stream: true })],
  ['a stream of events', 'text-generation', post({ ...text, stream: true }, { accept: 'text/event-stream' })],
  ['gzip', 'text-generation', post(gzipSync(JSON.stringify(text)), { 'content-encoding': 'gzip' })],
  ['a body that is asked for', 'text-generation', post(text, { expect: '100-continue' })],
  ['a body of a third of a megabyte', 'text-generation', post({ text: 'x'.repeat(3e5) })],
  ['a refused body', 'text-generation', post({ text: 1 })],
  ['a picture by address', 'image-classification', post({ url: 'http://media.example/x.png' })],
  ['a picture in place', 'image-classification', post({ base64: PICTURE })],
  ['status', 'text-generation', bytesOf('GET', '/status', HEADERS)],
  ['metrics', 'text-generation', bytesOf('GET', '/metrics', HEADERS)],
];

test.each(REQUESTS)('%s: left at every await', async (_name, task, bytes) => {
  const { server, gauges } = await watchedServer(task);
  expect(await leaveAtEveryAwait(server, bytes, gauges)).toBeGreaterThan(0);
});

test('left at every await while the model loads', async () => {
  const { server, gauges } = await watchedServer('text-generation', { startTurns: 400 });
  expect(await leaveAtEveryAwait(server, REQUESTS[0]![2], gauges)).toBeGreaterThan(0);
});

test.each([1, 2, 3])('callers who leave anywhere, seed %i', async (seed) => {
  const task = seed === 3 ? 'image-classification' : 'text-generation';
  const { server, gauges } = await watchedServer(task, { concurrency: 1 });
  const requests = REQUESTS.filter((request) => request[1] === task).map(([, , bytes]) => bytes);
  await leaveAnywhere(server, requests, { seed, rounds: 60 });
  await atRest(gauges, `seed ${seed}`);
});

test('requests that were sent ahead hold nothing once their connection is gone', async () => {
  const { server, gauges } = await watchedServer('text-generation', { concurrency: 1 });
  const kept = REQUESTS.slice(0, 6).map(([, , bytes]) =>
    Buffer.from(bytes.toString('latin1').replace('connection: close\r\n', ''), 'latin1'),
  );
  await sendAheadAndLeave(server, kept);
  await atRest(gauges, 'ahead');
});
