import { setTimeout as delay } from 'node:timers/promises';
import { entry, fakeLauncher, never, pool } from '../../fakes/launcher.js';

test('one start serves all who ask; the first to come is told that it was cold', async () => {
  const fake = fakeLauncher({ held: true });
  const upstream = pool(fake.launcher);
  const both = Promise.all([upstream.acquire(entry('a/a'), never), upstream.acquire(entry('a/a'), never)]);
  await delay(1);
  fake.gates[0]!();
  expect((await both).map(({ url }) => url)).toEqual(['http://a/a', 'http://a/a']);
  expect(fake.starts).toEqual(['a/a']);
  expect((await upstream.acquire(entry('a/a'), never)).cold).toBe(false);
  await upstream.close();
  expect(fake.names()).toEqual([]);
});

test('a start that fails does so for all who wait for it, and the next call tries again', async () => {
  const fake = fakeLauncher({ held: true });
  const upstream = pool(fake.launcher);
  const calls = [1, 2, 3].map(() => upstream.acquire(entry('a/a'), never));
  await delay(1);
  fake.gates[0]!(new Error('no such file'));
  for (const { status, ...rest } of await Promise.allSettled(calls)) {
    expect(status).toBe('rejected');
    expect(rest).toMatchObject({
      reason: { code: 'not_ready', message: "a/a does not start; the gateway's log says why" },
    });
  }
  expect(fake.starts).toHaveLength(1);
  void upstream.acquire(entry('a/a'), never);
  await delay(1);
  expect(fake.starts).toHaveLength(2);
  fake.gates[1]!();
});

test('within the budget: what was unused longest goes, never what has work under way', async () => {
  const fake = fakeLauncher();
  const upstream = pool(fake.launcher);
  const a = await upstream.acquire(entry('m/a'), never);
  (await upstream.acquire(entry('m/b'), never)).release();
  // a is older, but busy.
  (await upstream.acquire(entry('m/c'), never)).release();
  expect(fake.names().sort()).toEqual(['m/a', 'm/c']);
  a.release();
  (await upstream.acquire(entry('m/b'), never)).release();
  // c was used before a was asked last; a was given back without being asked again.
  expect(fake.names().sort()).toEqual(['m/b', 'm/c']);
});

test('a caller waits while all is busy, and is let in when there is room', async () => {
  const fake = fakeLauncher();
  const upstream = pool(fake.launcher);
  const [a, b] = [await upstream.acquire(entry('m/a'), never), await upstream.acquire(entry('m/b'), never)];
  const c = upstream.acquire(entry('m/c'), never);
  await delay(5);
  expect(fake.starts).toEqual(['m/a', 'm/b']);
  b.release();
  expect((await c).url).toBe('http://m/c');
  expect(fake.names().sort()).toEqual(['m/a', 'm/c']);
  a.release();
});

test('who leaves while waiting frees the place in line; too many are refused', async () => {
  const fake = fakeLauncher({ held: true });
  const upstream = pool(fake.launcher, { maxWaiting: 1 });
  const leaving = new AbortController();
  const first = upstream.acquire(entry('m/a'), leaving.signal);
  await expect(upstream.acquire(entry('m/a'), never)).rejects.toMatchObject({ code: 'overloaded' });
  leaving.abort(new Error('left'));
  await expect(first).rejects.toThrow('left');
  const second = upstream.acquire(entry('m/a'), never);
  fake.gates[0]!();
  expect((await second).url).toBe('http://m/a');
  // The start went on although the one who asked first had left.
  expect(fake.starts).toEqual(['m/a']);
});

test('a model that does not fit at all is refused at once', async () => {
  const upstream = pool(fakeLauncher().launcher);
  await expect(upstream.acquire(entry('m/huge', 3), never)).rejects.toMatchObject({ code: 'overloaded' });
});

test('idle models are stopped, used ones are not; a dead one is started again', async () => {
  const fake = fakeLauncher();
  const upstream = pool(fake.launcher, { idleMs: 20 });
  const used = await upstream.acquire(entry('m/a'), never);
  (await upstream.acquire(entry('m/b'), never)).release();
  await delay(60);
  expect(fake.names()).toEqual(['m/a']);
  fake.running[0]!.die('was ended by SIGKILL');
  used.release();
  await delay(1);
  expect((await upstream.acquire(entry('m/a'), never)).cold).toBe(true);
  expect(fake.starts).toEqual(['m/a', 'm/b', 'm/a']);
  await upstream.close();
});

test('says what runs, and what has happened to it', async () => {
  const fake = fakeLauncher();
  const events: string[] = [];
  const upstream = pool(fake.launcher, {
    onEvent: ({ event, modelId, reason }) => events.push([event, modelId, reason].filter(Boolean).join(' ')),
  });
  const lease = await upstream.acquire(entry('a/a', 0.5), never);
  expect(upstream.status!()).toEqual([{ modelId: 'a/a', state: 'ready', leases: 1, ramRequired: 0.5 }]);
  lease.release();
  expect(upstream.status!()).toMatchObject([{ leases: 0 }]);
  fake.running[0]!.die('fell over');
  await delay(1);
  expect(upstream.status!()).toEqual([]);
  expect(events).toEqual(['started a/a', 'stopped a/a fell over']);
});
