import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LoadRequest } from '../../../../../../runtime/core/load-request.js';
import { loadTextEmbedder } from '../../../../../../runtime/engines/encoders/text/embedder/text-embedder.js';
import { fixtureSpec } from '../../../../../parity/load.js';

const REPO = join(import.meta.dirname, '../../../../../fixtures/zoo-own/sentence-similarity/no-modules/repo');

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'embedder-'));
  await cp(REPO, dir, { recursive: true });
  const modules = [{ type: 'sentence_transformers.models.Transformer', path: '' }];
  await writeFile(join(dir, 'modules.json'), JSON.stringify(modules));
});
afterAll(() => rm(dir, { recursive: true }));

const load = (task: 'sentence-similarity' | 'feature-extraction') => {
  const settings = { device: 'cpu' as const, threads: 1, workers: 0, copyWeights: false, cacheBytes: 0 };
  const request: LoadRequest = {
    spec: fixtureSpec(task, 'a/b', dir),
    dir,
    ...settings,
    maxPixels: 0,
    maxSeconds: 0,
  };
  return loadTextEmbedder(request);
};

test('modules that pool nothing give no vector of a sentence', async () => {
  await expect(load('sentence-similarity')).rejects.toThrow('modules.json names no Pooling');
});

test('their mean is features all the same', async () => {
  const { embed } = await load('feature-extraction');
  expect(await embed('a quiet river')).toHaveLength(32);
});
