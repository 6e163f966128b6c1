import { jest } from '@jest/globals';
import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { downloadDir } from '../../runtime/store/paths.js';
import { openWorld, type World } from './world.js';

/** A second start of anything complete asks the hub for nothing, also in a process that was never there before. */

jest.setTimeout(30_000);

const MODEL = 'usual';
let world: World;
beforeAll(async () => void (world = await openWorld()));
afterAll(() => world.close());

async function startIn(root: string): Promise<{ outcome: unknown; requests: number }> {
  const { info } = world.models[MODEL]!;
  world.hub.requests.length = 0;
  const worker = await world.pool.take();
  const outcome = await worker.run({ spec: info, root, endpoint: world.hub.url, tuning: {}, patience: {} });
  return { outcome, requests: world.hub.requests.length };
}

const COMPLETE = { outcome: { ok: true, receivedBytes: 0 }, requests: 0 };

test('what a process has downloaded', async () => {
  const root = world.folder(false);
  expect((await startIn(root)).requests).toBeGreaterThan(0);
  expect(await startIn(root)).toEqual(COMPLETE);
  expect(await startIn(root)).toEqual(COMPLETE);
});

test.each([
  ['flat', () => ''],
  ['by id', () => 'org/usual'],
])('a folder that someone else has filled, %s', async (_, place) => {
  const [from, root] = [world.folder(false), world.folder(false)];
  await startIn(from);
  cpSync(downloadDir(from, world.models[MODEL]!.info), join(root, place()), { recursive: true });
  expect(await startIn(root)).toEqual(COMPLETE);
  expect(await startIn(root)).toEqual(COMPLETE);
});

test.each(['hub', ''])('HF_HOME as the Python client lays it out, links into blobs: %j', async (hub) => {
  const { info } = world.models[MODEL]!;
  const [from, root] = [world.folder(false), world.folder(false)];
  await startIn(from);
  const snapshot = join(root, hub, `models--${info.id.replace('/', '--')}`, 'snapshots', info.commit);
  for (const { path } of info.files) {
    const blob = join(root, hub, 'blobs', path.replaceAll('/', '_'));
    for (const file of [blob, join(snapshot, path)]) mkdirSync(dirname(file), { recursive: true });
    cpSync(join(downloadDir(from, info), path), blob);
    symlinkSync(blob, join(snapshot, path));
  }
  expect(await startIn(root)).toEqual(COMPLETE);
  expect(await startIn(root)).toEqual(COMPLETE);
});
