import type { LoadRequest } from '../../../runtime/core/load-request.js';
import type { Resolved } from '../../../runtime/tasks/define.js';
import { createScheduler, type SchedulerOptions } from '../../../runtime/worker/scheduler.js';
import { createSupervisor } from '../../../runtime/worker/supervisor.js';
import { type FakeEngine, fakeEngines, READY } from '../../fakes/engine.js';

const input = { n: 1 } as unknown as Resolved<unknown>;
const never = new AbortController().signal;
const tick = () => new Promise((resolve) => setTimeout(resolve, 10));

async function scheduler(overrides: Partial<SchedulerOptions> = {}) {
  const kills: number[] = [];
  const { open, started } = fakeEngines((engine) => engine.say(READY));
  const supervisor = createSupervisor({ open, onState: () => {} });
  supervisor.start(async () => ({}) as LoadRequest);
  await supervisor.ready(never);
  const limits = { concurrency: 2, maxQueue: 2, timeoutMs: 5000, cancelGraceMs: 20 };
  const created = createScheduler({ supervisor, ...limits, onKill: () => kills.push(1), ...overrides });
  return { created, engine: started[0]!, started, kills, supervisor };
}

const runs = (engine: FakeEngine) => engine.received.filter((message) => message.type === 'run');

test('answers come back to their own callers', async () => {
  const { created, engine } = await scheduler();
  const deltas: string[] = [];
  const first = created.run(input, {
    signal: never,
    onDelta: (delta) => deltas.push('text' in delta ? delta.text : ''),
  });
  const second = created.run(input, { signal: never });
  await tick();
  engine.say({ type: 'done', id: 2, output: 'b' });
  engine.say({ type: 'delta', id: 1, delta: { text: 'x' } });
  engine.say({ type: 'done', id: 1, output: 'a' });
  expect(await Promise.all([first, second])).toEqual(['a', 'b']);
  expect(deltas).toEqual(['x']);
});

test('no more than the allowed number run, the rest waits in order, what is beyond is refused', async () => {
  const { created, engine } = await scheduler();
  const all = [1, 2, 3, 4].map(() => created.run(input, { signal: never }));
  await expect(created.run(input, { signal: never })).rejects.toMatchObject({
    code: 'overloaded',
    retryAfter: 2,
  });
  await tick();
  expect(runs(engine)).toHaveLength(2);
  expect([created.running, created.queued]).toEqual([2, 2]);
  for (const id of [1, 2, 3, 4]) {
    engine.say({ type: 'done', id, output: id });
    await tick();
  }
  expect(await Promise.all(all)).toEqual([1, 2, 3, 4]);
  expect([created.running, created.queued]).toEqual([0, 0]);
});

test('a caller who has left before takes no place in the queue', async () => {
  const { created, engine } = await scheduler({ concurrency: 1 });
  const first = created.run(input, { signal: never });
  await expect(created.run(input, { signal: AbortSignal.abort() })).rejects.toMatchObject({
    code: 'cancelled',
  });
  expect(created.queued).toBe(0);
  await tick();
  engine.say({ type: 'done', id: 1, output: 'a' });
  expect(await first).toBe('a');
});

test('a caller who leaves the queue frees the place in it', async () => {
  const { created, engine } = await scheduler({ concurrency: 1, maxQueue: 1 });
  const first = created.run(input, { signal: never });
  const leaving = new AbortController();
  const second = created.run(input, { signal: leaving.signal });
  leaving.abort();
  await expect(second).rejects.toMatchObject({ code: 'cancelled' });
  const third = created.run(input, { signal: never });
  await tick();
  engine.say({ type: 'done', id: 1, output: 1 });
  await tick();
  engine.say({ type: 'done', id: 2, output: 3 });
  expect(await Promise.all([first, third])).toEqual([1, 3]);
});

test('a caller who leaves gets a cancel sent; the place is free once the engine has let go', async () => {
  const { created, engine, kills } = await scheduler({ concurrency: 1, cancelGraceMs: 5000 });
  const leaving = new AbortController();
  const first = created.run(input, { signal: leaving.signal });
  await tick();
  leaving.abort();
  await expect(first).rejects.toMatchObject({ code: 'cancelled' });
  expect(engine.received.at(-1)).toEqual({ type: 'cancel', id: 1 });
  expect(created.running).toBe(1);
  engine.say({ type: 'failed', id: 1, error: { code: 'cancelled', message: 'cancelled' } });
  await tick();
  expect(created.running).toBe(0);
  expect(kills).toEqual([]);
});

test('an engine that does not let go is killed and started again', async () => {
  const { created, started, kills } = await scheduler({ concurrency: 1 });
  const first = created.run(input, { signal: AbortSignal.timeout(10) });
  await expect(first).rejects.toMatchObject({ code: 'cancelled' });
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(kills).toEqual([1]);
  expect(started).toHaveLength(2);
  expect(created.running).toBe(0);
});

test('an input that cannot be sent fails alone and keeps no place', async () => {
  const { created, engine } = await scheduler({ concurrency: 1 });
  const unsendable = { text: () => {} } as unknown as Resolved<unknown>;
  await expect(created.run(unsendable, { signal: never })).rejects.toThrow(/could not be cloned/);
  expect(created.running).toBe(0);
  const next = created.run(input, { signal: never });
  await tick();
  const [run] = runs(engine) as { id: number }[];
  engine.say({ type: 'done', id: run!.id, output: 'fine' });
  expect(await next).toBe('fine');
});

test('the deadline is a 504 that names its variable', async () => {
  const { created } = await scheduler({ timeoutMs: 20 });
  await expect(created.run(input, { signal: never })).rejects.toMatchObject({
    code: 'timeout',
    message: expect.stringMatching(/REQUEST_TIMEOUT/),
  });
});

test('a crash fails what is under way, not what waits', async () => {
  const { created, engine, started } = await scheduler({ concurrency: 1 });
  const first = created.run(input, { signal: never });
  const second = created.run(input, { signal: never });
  await tick();
  engine.die('was ended by SIGSEGV');
  await expect(first).rejects.toMatchObject({
    code: 'engine_crashed',
    message: expect.stringMatching(/SIGSEGV/),
  });
  await tick();
  started[1]!.say({ type: 'done', id: 1, output: 'fine' });
  expect(await second).toBe('fine');
});

test('draining refuses new requests and waits for the old ones', async () => {
  const { created, engine } = await scheduler();
  const first = created.run(input, { signal: never });
  await tick();
  let drained = false;
  const done = created.drain().then(() => (drained = true));
  await expect(created.run(input, { signal: never })).rejects.toMatchObject({ code: 'stopping' });
  expect(drained).toBe(false);
  engine.say({ type: 'done', id: 1, output: 1 });
  await Promise.all([first, done]);
  expect(drained).toBe(true);
});

test('draining refuses what waits for a slot or for the model, since another server may take it', async () => {
  const { created, engine } = await scheduler({ concurrency: 1 });
  const begun = created.run(input, { signal: never });
  await tick();
  const waits = created.run(input, { signal: never });
  const done = created.drain();
  await expect(waits).rejects.toMatchObject({ code: 'stopping', retryAfter: 5 });
  engine.say({ type: 'done', id: 1, output: 1 });
  expect(await begun).toBe(1);
  await done;
  expect([runs(engine).length, created.running, created.queued]).toEqual([1, 0, 0]);
});

test('draining while the model loads refuses its callers', async () => {
  const { open } = fakeEngines(() => {});
  const supervisor = createSupervisor({ open, onState: () => {} });
  supervisor.start(async () => ({}) as LoadRequest);
  const { created } = await scheduler({ supervisor });
  const waits = created.run(input, { signal: never });
  await tick();
  await Promise.all([
    created.drain(),
    expect(waits).rejects.toMatchObject({ code: 'stopping', message: 'the server is stopping' }),
  ]);
});
