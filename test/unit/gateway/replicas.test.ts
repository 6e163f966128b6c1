import { setTimeout as delay } from 'node:timers/promises';
import type { ModelEntry } from '../../../gateway/catalog/entry.js';
import type { LeftoverServer } from '../../../gateway/upstream/upstream.js';
import { entry, fakeLauncher, never, pool } from '../../fakes/launcher.js';
import { waitFor } from '../../fakes/server.js';

const image = (id: string) => ({ id, reference: `x/${id}`, baked: true, device: 'cpu' as const });

describe('servers of one model', () => {
  test('a busy one gets company, where there is room, and no more than it may', async () => {
    const fake = fakeLauncher();
    const upstream = pool(fake.launcher, { replicas: 3, busyAt: 2, memoryGb: 2 });
    const ask = () => upstream.acquire(entry('m/a'), never);
    const first = [await ask(), await ask()];
    expect(fake.starts).toHaveLength(1);
    // The third call goes to the busy one, and starts the second.
    const third = await ask();
    await delay(1);
    expect(fake.starts).toHaveLength(2);
    expect(third.cold).toBe(false);
    const more = [await ask(), await ask(), await ask()];
    expect(upstream.status!().map(({ leases }) => leases)).toEqual([3, 3]);
    await delay(1);
    // No room for a third.
    expect(fake.starts).toHaveLength(2);
    for (const lease of [...first, third, ...more]) lease.release();
    // The first is served first: the second can become idle.
    (await ask()).release();
    expect(upstream.status!().map(({ state }) => state)).toEqual(['ready', 'ready']);
    await upstream.close();
    expect(fake.names()).toEqual([]);
  });

  test('company does not take room from other models', async () => {
    const fake = fakeLauncher();
    const upstream = pool(fake.launcher, { replicas: 2, busyAt: 1 });
    (await upstream.acquire(entry('m/b'), never)).release();
    await upstream.acquire(entry('m/a'), never);
    await upstream.acquire(entry('m/a'), never);
    await delay(1);
    expect(fake.names().sort()).toEqual(['m/a', 'm/b']);
  });

  test('when its image is replaced, calls go to a server of the new one, and the old one ends its work', async () => {
    const fake = fakeLauncher();
    const upstream = pool(fake.launcher);
    const old = await upstream.acquire({ ...entry('m/a'), image: image('one') }, never);
    const renewed = await upstream.acquire({ ...entry('m/a'), image: image('two') }, never);
    expect(renewed.cold).toBe(true);
    expect(upstream.status!().map(({ state, leases }) => [state, leases])).toEqual([
      ['draining', 1],
      ['ready', 1],
    ]);
    old.release();
    await delay(1);
    expect(upstream.status!().map(({ state }) => state)).toEqual(['ready']);
  });
});

test('a server that does not answer gets no more calls; one that does keeps them', async () => {
  const fake = fakeLauncher();
  const upstream = pool(fake.launcher);
  const lease = await upstream.acquire(entry('m/a'), never);
  await lease.suspect!();
  expect(upstream.status!()).toMatchObject([{ state: 'ready' }]);
  // Gone, and its end is not told.
  fake.running.splice(0);
  await lease.suspect!();
  lease.release();
  expect((await upstream.acquire(entry('m/a'), never)).cold).toBe(true);
});

test('a server that refuses because it stops gets no more calls, and its work ends before it does', async () => {
  const fake = fakeLauncher();
  const upstream = pool(fake.launcher);
  const [busy, refused] = [
    await upstream.acquire(entry('m/a'), never),
    await upstream.acquire(entry('m/a'), never),
  ];
  refused.stops!();
  refused.release();
  const next = await upstream.acquire(entry('m/a'), never);
  expect(next.cold).toBe(true);
  expect(upstream.status!().map(({ state, leases }) => [state, leases])).toEqual([
    ['draining', 1],
    ['ready', 1],
  ]);
  busy.release();
  await delay(1);
  expect(upstream.status!().map(({ state }) => state)).toEqual(['ready']);
});

test('who waits for room too long gets that of a busy model, once its work is done', async () => {
  const fake = fakeLauncher();
  const upstream = pool(fake.launcher, { memoryGb: 1, patienceMs: 20 });
  const busy = await upstream.acquire(entry('m/a'), never);
  const waiting = upstream.acquire(entry('m/b'), never);
  await delay(60);
  expect(upstream.status!()).toMatchObject([{ modelId: 'm/a', state: 'draining', leases: 1 }]);
  // Who asks for the busy one now waits behind.
  const behind = upstream.acquire(entry('m/a'), never);
  busy.release();
  (await waiting).release();
  expect(fake.starts).toEqual(['m/a', 'm/b']);
  (await behind).release();
  expect(fake.starts).toEqual(['m/a', 'm/b', 'm/a']);
});

test('a model that starts slowly keeps nobody else waiting, however long its callers have waited', async () => {
  const fake = fakeLauncher({ held: true });
  const upstream = pool(fake.launcher, { patienceMs: 10 });
  const slow = [upstream.acquire(entry('m/slow'), never), upstream.acquire(entry('m/slow'), never)];
  await delay(30);
  const other = upstream.acquire(entry('m/other'), never);
  await delay(30);
  expect(fake.starts).toEqual(['m/slow', 'm/other']);
  for (const open of fake.gates) open();
  await Promise.all([...slow, other]);
});

test('who leaves after waiting too long lets the others through', async () => {
  const fake = fakeLauncher();
  const upstream = pool(fake.launcher, { memoryGb: 2, patienceMs: 10 });
  const busy = await upstream.acquire(entry('m/busy'), never);
  const leaving = new AbortController();
  const large = upstream.acquire(entry('m/large', 2), leaving.signal);
  await delay(40);
  const small = upstream.acquire(entry('m/small'), never);
  await delay(5);
  expect(fake.starts).toEqual(['m/busy']);
  leaving.abort(new Error('left'));
  await expect(large).rejects.toThrow('left');
  expect((await small).url).toBe('http://m/small');
  busy.release();
});

test('what a call gives up while it starts is stopped when it has started after all', async () => {
  const fake = fakeLauncher({ held: true, deaf: true });
  const upstream = pool(fake.launcher);
  const call = upstream.acquire(entry('m/a'), never);
  await delay(1);
  const closed = upstream.close();
  fake.gates[0]!();
  await closed;
  await expect(call).rejects.toMatchObject({ code: 'not_ready' });
  expect(fake.names()).toEqual([]);
});

describe('what an earlier gateway has left', () => {
  const left = (modelId: string, imageId: string, said: string[]): LeftoverServer => ({
    ...{ name: `${modelId} ${imageId}`, modelId, isDead: false },
    isOf: (wanted: ModelEntry) => wanted.image?.id === imageId,
    async resume() {
      said.push(`resumed ${modelId}`);
      return {
        url: `http://${modelId}/left`,
        ended: new Promise(() => {}),
        isAlive: async () => true,
        stop: async () => {},
      };
    },
    discard: async () => void said.push(`discarded ${modelId} ${imageId}`),
  });

  test('is taken over as far as it is wanted and fits; the rest ends', async () => {
    const said: string[] = [];
    const fake = fakeLauncher();
    const leftovers = async () => [
      left('m/a', 'one', said),
      left('m/a', 'one', said),
      left('m/b', 'old', said),
      left('m/gone', 'one', said),
      left('m/c', 'one', said),
      left('m/d', 'one', said),
    ];
    const upstream = pool({ ...fake.launcher, leftovers });
    const known = new Map(
      ['m/a', 'm/b', 'm/c', 'm/d'].map((id) => [id, { ...entry(id), image: image('one') }]),
    );
    await upstream.adopt((id) => known.get(id));
    expect(said).toEqual([
      'resumed m/a',
      'discarded m/a one',
      'discarded m/b old',
      'discarded m/gone one',
      'resumed m/c',
      'discarded m/d one',
    ]);
    await delay(1);
    const lease = await upstream.acquire(known.get('m/a')!, never);
    expect(lease).toMatchObject({ url: 'http://m/a/left', cold: false });
    expect(fake.starts).toEqual([]);
  });

  test('one that can not be removed is told once, and keeps nobody from starting or being swept up', async () => {
    const log: string[] = [];
    const said: string[] = [];
    let broken = true;
    const sick = {
      ...left('m/sick', 'one', said),
      isDead: true,
      async discard() {
        if (broken) throw new Error('device or resource busy');
        said.push('discarded m/sick at last');
        rows = [];
      },
    };
    let rows: LeftoverServer[] = [sick, left('m/a', 'one', said)];
    const fake = fakeLauncher();
    const options = { sweepMs: 10, log: (line: string) => void log.push(line) };
    const upstream = pool({ ...fake.launcher, leftovers: async () => rows }, options);
    await upstream.adopt((id) => ({ ...entry(id), image: image(id === 'm/a' ? 'one' : 'other') }));
    expect(said).toEqual(['resumed m/a']);
    rows = [sick];
    await delay(60);
    const told = log.filter((line) => line.includes('m/sick'));
    expect(told).toEqual(["m/sick one is left over and can't be removed: device or resource busy"]);
    broken = false;
    await waitFor(() => said.length === 2);
    expect(said[1]).toBe('discarded m/sick at last');
    await upstream.close();
  });

  test('what runs beside the known servers is not swept up', async () => {
    const said: string[] = [];
    const fake = fakeLauncher();
    const rows = [left('m/running', 'one', said), { ...left('m/dead', 'one', said), isDead: true }];
    const upstream = pool({ ...fake.launcher, leftovers: async () => rows }, { sweepMs: 5 });
    await waitFor(() => said.length >= 2);
    expect(new Set(said)).toEqual(new Set(['discarded m/dead one']));
    await upstream.close();
  });
});
