import { mkdirSync, mkdtempSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { cachedFiles } from '../../../../builder/plan/cached.js';
import { planModel } from '../../../../builder/plan/index.js';
import { folderSource } from '../../../../runtime/store/folder.js';
import { downloadDir } from '../../../../runtime/store/paths.js';
import { ensureWeights } from '../../../../runtime/store/weights.js';

const MODEL = 'test/fixtures/zoo/text-classification/distilbert/repo';

test('what is there is told file by file: verified, to be verified, broken off, missing', async () => {
  const root = mkdtempSync(join(tmpdir(), 'slipway-cached-'));
  const { spec } = await planModel({ source: folderSource(MODEL), id: 'zoo/m' });
  const dir = downloadDir(root, spec);
  expect(await cachedFiles(root, spec)).toMatchObject({ verifiedBytes: 0, partialBytes: 0, folder: dir });

  await ensureWeights({ spec, roots: [], downloadRoot: root, source: () => folderSource(MODEL) });
  const total = spec.files.reduce((sum, { size }) => sum + size, 0);
  expect(await cachedFiles(root, spec)).toMatchObject({ verifiedBytes: total, missingBytes: 0, folder: dir });

  const [graph, tokenizer] = ['onnx/model.onnx', 'tokenizer.json'];
  truncateSync(join(dir, graph), 1000);
  writeFileSync(`${join(dir, graph)}.part`, readFileSync(join(MODEL, graph)).subarray(0, 1000));
  writeFileSync(join(dir, tokenizer), readFileSync(join(MODEL, tokenizer)));
  truncateSync(join(dir, 'config.json'), 1);
  const after = await cachedFiles(root, spec);
  const states = Object.fromEntries(after.files.map(({ path, state }) => [path, state]));
  expect(states).toMatchObject({ [graph]: 'partial', [tokenizer]: 'present', 'config.json': 'missing' });
  const size = (path: string) => spec.files.find((file) => file.path === path)!.size;
  expect(after).toMatchObject({ partialBytes: 1000, missingBytes: size(graph) - 1000 + size('config.json') });
});

test('nothing in the cache: the folder of a download is named, all is missing', async () => {
  const { spec } = await planModel({ source: folderSource(MODEL), id: 'zoo/m' });
  const root = join(tmpdir(), 'slipway-no-such-folder');
  mkdirSync(dirname(root), { recursive: true });
  const { missingBytes, files } = await cachedFiles(root, spec);
  expect(missingBytes).toBe(files.reduce((sum, file) => sum + file.size, 0));
});
