import { existsSync, mkdirSync, mkdtempSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { SessionHost } from '../../../../runtime/engines/sessions/host.js';
import { shareWeights } from '../../../../runtime/engines/sessions/shared-weights.js';

/** A host that writes a file where it should. */
const host = {
  async writeOptimized(_: string, dir: string) {
    const path = join(dir, 'model.onnx');
    writeFileSync(path, 'graph');
    return path;
  },
} as SessionHost;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'shared-weights-test-'));
});
const weights = (bytes = 1000) => ({ graph: '/model.onnx', bytes, folder });

test('the copy lies in the temporary folder until it is unlinked', async () => {
  const shared = await shareWeights(host, weights());
  expect(dirname(dirname(shared!.path))).toBe(folder);
  expect(existsSync(shared!.path)).toBe(true);
  shared!.unlink();
  expect(readdirSync(folder)).toEqual([]);
});

test('without a place for it there is none, and nothing fails', async () => {
  const file = join(folder, 'file');
  writeFileSync(file, '');
  for (const place of [file, join(folder, 'missing')]) {
    expect(await shareWeights(host, { ...weights(), folder: place })).toBeUndefined();
  }
});

test('without room on the disk, or for weights that are too large, there is none', async () => {
  expect(await shareWeights(host, weights(2 ** 50))).toBeUndefined();
});

test('a graph that can’t be written leaves nothing behind', async () => {
  const failing = {
    writeOptimized: () => Promise.reject(new Error('no such kernel')),
  } as unknown as SessionHost;
  expect(await shareWeights(failing, weights())).toBeUndefined();
  expect(readdirSync(folder)).toEqual([]);
});

test('what killed processes left goes, what others are writing stays', async () => {
  const [old, fresh] = ['slipway-weights-old', 'slipway-weights-new'].map((name) => join(folder, name));
  for (const dir of [old!, fresh!]) mkdirSync(dir);
  utimesSync(old!, 0, 0);
  (await shareWeights(host, weights()))!.unlink();
  expect(readdirSync(folder)).toEqual(['slipway-weights-new']);
});
