import { createServer } from 'node:http';
import type { Fleet, FleetServer } from '../../../builder/docker/fleet.js';
import { containerLife } from '../../../gateway/upstream/container-life.js';
import { PORT, secretsOf, serverOptions } from '../../../gateway/upstream/container-settings.js';
import type { ModelEntry } from '../../../gateway/catalog/entry.js';
import { entry } from '../../fakes/launcher.js';

const settled = () => new Promise((resolve) => setImmediate(resolve));

/** A container that answers nothing until the test ends it; removals are done when the test says so. */
function lifeOf({ lastLine = '', removes = () => Promise.resolve() } = {}) {
  let end: (reason: string) => void;
  const asked: [id: string, seconds: number][] = [];
  const fleet = {
    ended: () => new Promise<string>((resolve) => (end = resolve)),
    lastLine: async () => lastLine,
    async remove(id: string, seconds: number) {
      asked.push([id, seconds]);
      await removes();
    },
  } as Partial<Fleet> as Fleet;
  const lines: string[] = [];
  const known = new Set<string>();
  const life = containerLife({ fleet, known, log: (line) => void lines.push(line) });
  return { life, known, asked, lines, end: (reason: string) => end(reason) };
}

const server = { id: 'id-1', name: 'slipway-a', address: '127.0.0.1' } as FleetServer;

test('a container that ends while it starts fails the start with its last words, and is removed', async () => {
  const { life, known, asked, end } = lifeOf({ lastLine: 'no room' });
  const following = life.follow(server, AbortSignal.timeout(10_000));
  await settled();
  expect([...known]).toEqual(['slipway-a']);
  end('exited with code 1');
  await expect(following).rejects.toThrow('exited with code 1; its last words: no room');
  await life.removed();
  expect(asked).toEqual([
    ['id-1', 0],
    ['id-1', 0],
  ]);
  expect([...known]).toEqual([]);
});

test('a start that fails is over when its container is gone, and says so where that fails', async () => {
  let goes: () => void;
  const gone = new Promise<void>((_, reject) => (goes = () => reject(new Error('the engine is busy'))));
  const { life, lines } = lifeOf({ removes: () => gone });
  let failed = false;
  const failing = life.failStart('id-1', new Error('was idle')).finally(() => (failed = true));
  await settled();
  expect(failed).toBe(false);
  goes!();
  expect((await failing).message).toBe('was idle');
  expect(lines).toEqual(["it can't be removed yet: the engine is busy"]);
});

test('all removals are waited for', async () => {
  let goes: () => void;
  const gone = new Promise<void>((resolve) => (goes = resolve));
  const { life, known, end } = lifeOf({ removes: () => gone });
  const following = life.follow(server, AbortSignal.timeout(10_000));
  await settled();
  end('was killed');
  await settled();
  let removed = false;
  const removal = life.removed().then(() => (removed = true));
  await settled();
  expect([removed, [...known]]).toEqual([false, ['slipway-a']]);
  goes!();
  await removal;
  await expect(following).rejects.toThrow('was killed');
});

test('a server that is ready can be asked whether it lives, and is stopped with time to finish', async () => {
  const { life, asked } = lifeOf();
  const status = { output: { state: 'ready', memory_bytes: { server: 1, engine: null } } };
  const http = createServer((_, response) => void response.end(JSON.stringify(status)));
  // The port of containers, on an address that nobody else has.
  await new Promise<void>((listening) => http.listen(PORT, '127.9.8.7', listening));
  const close = () => (http.close(), http.closeAllConnections());
  try {
    const instance = await life.follow({ ...server, address: '127.9.8.7' }, AbortSignal.timeout(10_000));
    expect(await instance.isAlive()).toBe(true);
    close();
    expect(await instance.isAlive()).toBe(false);
    await instance.stop();
    expect(asked).toEqual([['id-1', 10]]);
  } finally {
    close();
  }
});

describe('what a container is started with', () => {
  const model = (image: Partial<ModelEntry['image']> = {}): ModelEntry => ({
    ...entry('org/a'),
    image: { id: 'sha256:one', reference: 'slipway/a', baked: true, device: 'cpu' as const, ...image },
  });
  const options = {
    ...{ name: 'harbour', offline: false, hub: { token: 'hf_t' } },
    proxies: {},
    tracing: { env: {}, secrets: {} },
    body: { maxBytes: undefined, maxValues: undefined },
  };

  test('a key of 128 bits, and the token only for what has to be downloaded', () => {
    expect(secretsOf(model(), options)).toEqual({ KEY: expect.stringMatching(/^[0-9a-f]{32}$/) });
    expect(secretsOf(model({ baked: false }), options)).toMatchObject({ HF_TOKEN: 'hf_t' });
    expect(secretsOf(model({ baked: false }), { ...options, offline: true })).not.toHaveProperty('HF_TOKEN');
  });

  test('proxies, unless nothing outside may be reached', () => {
    const proxies = { HTTPS_PROXY: 'http://proxy:3128' };
    expect(serverOptions(model(), { ...options, proxies }).env).toMatchObject(proxies);
    expect(serverOptions(model(), { ...options, proxies, offline: true }).env).not.toHaveProperty(
      'HTTPS_PROXY',
    );
  });

  test('a volume for weights that it has to download, and the limits of bodies that were asked for', () => {
    const baked = serverOptions(model(), options);
    expect(baked.volume).toBeUndefined();
    expect(baked.env).not.toHaveProperty('MAX_BODY_BYTES');
    const limited = { ...options, body: { maxBytes: 1000, maxValues: 20 } };
    expect(serverOptions(model({ baked: false }), limited)).toMatchObject({
      volume: { name: 'slipway-weights-org_a', path: '/server/model' },
      env: { MAX_BODY_BYTES: '1000', MAX_BODY_VALUES: '20' },
    });
  });
});
