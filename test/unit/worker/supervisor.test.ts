import type { LoadRequest } from '../../../runtime/core/load-request.js';
import type { EngineState } from '../../../runtime/worker/engine-state.js';
import { createSupervisor } from '../../../runtime/worker/supervisor.js';
import type { OpenChannel } from '../../../runtime/worker/channel.js';
import { fakeEngines, READY } from '../../fakes/engine.js';

const request = {} as LoadRequest;
const never = new AbortController().signal;
const until = async (condition: () => boolean) => {
  for (let i = 0; i < 200 && !condition(); i++) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(condition()).toBe(true);
};

test('prepares, loads, is ready', async () => {
  const states: EngineState['name'][] = [];
  const { open } = fakeEngines((engine) => engine.say(READY));
  const supervisor = createSupervisor({ open, onState: ({ name }) => states.push(name) });
  supervisor.start(async () => request);
  await supervisor.ready(never);
  expect(states).toEqual(['preparing', 'loading', 'ready']);
  await supervisor.stop();
});

test('an engine that dies is started again and ready() gives the new one', async () => {
  const { open, started } = fakeEngines((engine) => engine.say(READY));
  const supervisor = createSupervisor({ open, onState: () => {} });
  supervisor.start(async () => request);
  const first = await supervisor.ready(never);
  const run = first.run({ media: undefined } as never, { signal: never });
  started[0]!.die('was ended by SIGKILL');
  await expect(run).rejects.toMatchObject({ code: 'engine_crashed', status: 503 });
  await until(() => started.length === 2);
  const second = await supervisor.ready(never);
  expect(second).not.toBe(first);
  expect(supervisor.restarts).toBe(1);
  await supervisor.stop();
});

test('a model that cannot be loaded stays failed, with its reason', async () => {
  const { open, started } = fakeEngines((engine) =>
    engine.say({ type: 'load_failed', error: { code: 'not_ready', message: 'no logits' } }),
  );
  const supervisor = createSupervisor({ open, onState: () => {}, backoffMs: 1 });
  supervisor.start(async () => request);
  await until(() => supervisor.state.name === 'failed');
  await expect(supervisor.ready(never)).rejects.toThrow('the model is not loaded: no logits');
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(started).toHaveLength(1);
  await supervisor.stop();
});

test('an engine that is refused is ended for good, with the reason', async () => {
  const { open, started } = fakeEngines((engine) => engine.say(READY));
  const supervisor = createSupervisor({ open, onState: () => {}, backoffMs: 1 });
  supervisor.start(async () => request);
  const run = (await supervisor.ready(never)).run({} as never, { signal: never });
  supervisor.refuse(new Error('altered', { cause: 'which file' }));
  await expect(run).rejects.toMatchObject({ status: 503 });
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(supervisor.state).toEqual({
    ...{ name: 'failed', reason: 'altered', detail: 'which file', retryInMs: undefined },
  });
  await expect(supervisor.ready(never)).rejects.toThrow('the model is not loaded: altered');
  expect([started.length, supervisor.restarts]).toEqual([1, 0]);
  await supervisor.stop();
});

test('neither an engine that loads again nor one that waits for its turn comes back once one is refused', async () => {
  for (const backoffMs of [0, 20]) {
    let attempts = 0;
    const { open, started } = fakeEngines((engine) => {
      if (++attempts === 1) engine.say(READY);
      if (attempts === 2 && backoffMs > 0) engine.die('was ended by SIGKILL');
    });
    const supervisor = createSupervisor({ open, onState: () => {}, backoffMs });
    supervisor.start(async () => request);
    await supervisor.ready(never);
    started[0]!.die('was ended by SIGKILL');
    await until(() => started.length === 2);
    supervisor.refuse(new Error('altered'));
    started[1]!.die('was ended by SIGKILL');
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(supervisor.state).toMatchObject({ name: 'failed', reason: 'altered', retryInMs: undefined });
    expect(started).toHaveLength(2);
    await supervisor.stop();
  }
});

test('an engine that dies while loading is tried again', async () => {
  let attempts = 0;
  const { open } = fakeEngines((engine) =>
    ++attempts < 3 ? engine.die('was ended by SIGKILL') : engine.say(READY),
  );
  const supervisor = createSupervisor({ open, onState: () => {}, backoffMs: 1 });
  supervisor.start(async () => request);
  await until(() => supervisor.state.name === 'ready');
  expect(attempts).toBe(3);
  await supervisor.stop();
});

test('a failed preparation is tried again and told meanwhile', async () => {
  const states: EngineState[] = [];
  const { open } = fakeEngines((engine) => engine.say(READY));
  const supervisor = createSupervisor({ open, onState: (state) => states.push(state), backoffMs: 1 });
  let attempts = 0;
  supervisor.start(async () => {
    if (++attempts === 1) throw new Error('the hub is away', { cause: 'in /a/folder' });
    return request;
  });
  await until(() => supervisor.state.name === 'ready');
  expect(states[1]).toEqual({
    name: 'failed',
    reason: 'the hub is away',
    detail: 'in /a/folder',
    retryInMs: 1,
  });
  await supervisor.stop();
});

test('who waits leaves when the signal aborts or the server stops', async () => {
  const supervisor = createSupervisor({ open: fakeEngines().open, onState: () => {} });
  supervisor.start(async () => request);
  const leaving = new AbortController();
  const waiting = supervisor.ready(leaving.signal);
  leaving.abort(new Error('left'));
  await expect(waiting).rejects.toThrow('left');
  const other = supervisor.ready(never);
  await supervisor.stop();
  await expect(other).rejects.toMatchObject({ code: 'stopping' });
});

test('who asks while the next attempt is some way off is told when', async () => {
  const supervisor = createSupervisor({ open: fakeEngines().open, onState: () => {}, backoffMs: 7000 });
  supervisor.start(async () => {
    throw new Error('the hub is away');
  });
  await until(() => supervisor.state.name === 'failed');
  await expect(supervisor.ready(never)).rejects.toMatchObject({ code: 'not_ready', retryAfter: 7 });
  await supervisor.stop();
});

test('stopping ends a preparation and waits until it has tidied up', async () => {
  let tidied = false;
  const supervisor = createSupervisor({ open: fakeEngines().open, onState: () => {} });
  supervisor.start(async (signal) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    await new Promise((resolve) => setTimeout(resolve, 10));
    tidied = true;
    throw signal.reason;
  });
  await supervisor.stop();
  expect(tidied).toBe(true);
  expect(supervisor.state.name).toBe('stopped');
});

test('while large files are read, the state says how far', async () => {
  const states: EngineState[] = [];
  const { open } = fakeEngines((engine) => {
    engine.say({ type: 'progress', phase: 'opening', read: { doneBytes: 1, totalBytes: 4, seconds: 2 } });
    engine.say(READY);
  });
  const supervisor = createSupervisor({ open, onState: (state) => void states.push(state) });
  supervisor.start(async () => request);
  await until(() => supervisor.state.name === 'ready');
  expect(states).toContainEqual({
    ...{ name: 'loading', phase: 'opening' },
    read: { doneBytes: 1, totalBytes: 4, seconds: 2 },
  });
  await supervisor.stop();
});

test('an engine that still talks while the server stops changes nothing', async () => {
  const talking: OpenChannel = ({ onMessage }) => ({
    ...{ pid: 1, kill: () => {} },
    send: (message) =>
      message.type === 'load' && (progress = () => onMessage({ type: 'progress', phase: 'opening' })),
  });
  let progress: (() => void) | undefined;
  const supervisor = createSupervisor({ open: talking, onState: () => {} });
  supervisor.start(async () => request);
  await until(() => progress !== undefined);
  await supervisor.stop();
  progress!();
  expect(supervisor.state.name).toBe('stopped');
});

test('an engine that dies again and again soon after it was ready is given time', async () => {
  const waits: (number | undefined)[] = [];
  let reason = '';
  const { open, started } = fakeEngines((engine) => {
    engine.say(READY);
    setTimeout(() => engine.die('was ended by SIGSEGV'), 1);
  });
  const onState = (state: EngineState) => {
    if (state.name !== 'failed') return;
    waits.push(state.retryInMs);
    ({ reason } = state);
  };
  const supervisor = createSupervisor({ open, onState, backoffMs: 4 });
  supervisor.start(async () => request);
  await until(() => waits.length >= 3);
  // Four restarts at once, then ever later.
  expect(started.length).toBeGreaterThanOrEqual(7);
  expect(waits.slice(0, 3)).toEqual([4, 8, 16]);
  expect(reason).toMatch(/the model process was ended by SIGSEGV, \d+ times soon after it was ready/);
  await supervisor.stop();
});
