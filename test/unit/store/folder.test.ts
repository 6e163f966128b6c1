import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { folderSource } from '../../../runtime/store/folder.js';
import { modelCard } from '../../../runtime/store/model-card.js';
import { readWholeFile } from '../../../runtime/store/source.js';
import { ensureWeights } from '../../../runtime/store/weights.js';
import { CONFIG, folderWith } from './folders.js';

const README =
  '---\npipeline_tag: text-classification\nlibrary_name: transformers\nlicense: mit\ntags: [onnx, en]\n---\n# Model\n';
const files = { 'config.json': CONFIG, 'onnx/model.onnx': 'graph', 'README.md': README };

test('lists files with sizes and hashes and reads the model card', async () => {
  const info = await folderSource(folderWith(files)).info('local/model');
  expect(info).toMatchObject({
    id: 'local/model',
    revision: 'main',
    commit: expect.stringMatching(/^local-[0-9a-f]{12}$/),
    pipelineTag: 'text-classification',
    libraryName: 'transformers',
    license: 'mit',
    tags: ['onnx', 'en'],
  });
  expect(info.files.map(({ path, size }) => [path, size])).toEqual([
    ['README.md', README.length],
    ['config.json', CONFIG.length],
    ['onnx/model.onnx', 5],
  ]);
  expect(info.files[2]!.sha256).toBe('eef93e1d14482804277fca0172464032d1a4fdbcc338524059fa1e861454ad4d');
});

test('the commit follows the content, not the place or the time', async () => {
  const commit = async (content: Record<string, string>) =>
    (await folderSource(folderWith(content)).info('a/b')).commit;
  expect(await commit(files)).toBe(await commit(files));
  expect(await commit({ ...files, 'onnx/model.onnx': 'grapf' })).not.toBe(await commit(files));
  expect(await commit({ ...files, 'extra.txt': '' })).not.toBe(await commit(files));
});

test('names with a leading dot are left out', async () => {
  const dir = folderWith({ ...files, '.git/HEAD': 'x', '.slipway.json': '{}' });
  const info = await folderSource(dir).info('a/b');
  expect(info.files.length).toBe(3);
});

test('a link inside is a file, a link outside is refused, a folder loop is not followed', async () => {
  const dir = folderWith(files);
  symlinkSync('config.json', join(dir, 'copy.json'));
  symlinkSync('..', join(dir, 'onnx', 'up'));
  await expect(folderSource(dir).info('a/b')).rejects.toThrow(/leads out of the folder/);
  rmSync(join(dir, 'onnx', 'up'));
  mkdirSync(join(dir, 'x'));
  symlinkSync('../onnx', join(dir, 'x', 'linked'));
  const paths = (await folderSource(dir).info('a/b')).files.map(({ path }) => path);
  expect(paths).toEqual(['README.md', 'config.json', 'copy.json', 'onnx/model.onnx']);
  symlinkSync('/etc/hostname', join(dir, 'host.txt'));
  await expect(folderSource(dir).info('a/b')).rejects.toThrow(/leads out of the folder/);
});

test('reads text and bytes', async () => {
  const source = folderSource(folderWith(files));
  const info = await source.info('a/b');
  expect(await source.readText(info, 'config.json')).toBe(CONFIG);
  expect(await source.readText(info, 'none.json')).toBeUndefined();
  expect((await readWholeFile(source, info, info.files[2]!)).toString()).toBe('graph');
  await expect(source.open(info, { path: '../x', size: 1 }, 0)).rejects.toThrow(/unsafe path/);
});

test('serves a download as a hub does, and notices a file that changed since', async () => {
  const dir = folderWith(files);
  const source = folderSource(dir);
  const info = await source.info('local/model');
  const downloadRoot = folderWith();
  const first = await ensureWeights({ spec: info, roots: [], downloadRoot, source: () => source });
  expect(first.downloaded).toBe(true);
  writeFileSync(join(dir, 'onnx/model.onnx'), 'other');
  const again = ensureWeights({ spec: info, roots: [], downloadRoot: folderWith(), source: () => source });
  await expect(again).rejects.toMatchObject({ kind: 'corrupt' });
});

test('no folder, or an empty one', async () => {
  await expect(folderSource(join(folderWith(), 'none')).info('a/b')).rejects.toThrow(
    /is not there; check .* --from/,
  );
  await expect(folderSource(folderWith()).info('a/b')).rejects.toThrow(/holds no files/);
});

test.each([
  ['no block', '# Model', { tags: [] }],
  ['values of wrong types', '---\npipeline_tag: [a]\ntags: x\n---\n', { tags: [] }],
  ['broken YAML', '---\na: [\n---\n', { tags: [] }],
  ['Windows line ends', '---\r\nlicense: mit\r\n---\r\n', { license: 'mit', tags: [] }],
])('model card: %s', (_name, readme, expected) => {
  expect(modelCard(readme)).toEqual(expected);
});
