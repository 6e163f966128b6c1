import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { hubSource } from '../../../runtime/store/hub.js';
import { MANIFEST_NAME } from '../../../runtime/store/manifest.js';
import { startHub } from '../../fakes/hub.js';
import { folderWith } from './folders.js';
import { GRAPH, noSource, useWorkbench } from './workbench.js';

/** What can lie in the place that a download goes to. */
const bench = useWorkbench();

test('an empty folder under the name of a file is taken away', async () => {
  mkdirSync(bench.graphPath(), { recursive: true });
  await bench.ensure();
  bench.expectComplete();
});

test('a folder with content stays, and is told before the first byte', async () => {
  mkdirSync(join(bench.graphPath(), 'mine'), { recursive: true });
  await expect(bench.ensure()).rejects.toMatchObject({
    kind: 'storage',
    message: expect.stringMatching(/model\.onnx: a folder lies where a file belongs; move away/),
  });
  expect(bench.hub.requests).toEqual([]);
});

test('a folder under the name of a part is told', async () => {
  mkdirSync(`${bench.graphPath()}.part`, { recursive: true });
  await expect(bench.ensure()).rejects.toMatchObject({ kind: 'storage' });
});

test('a file under the name of a folder is told', async () => {
  mkdirSync(bench.target(), { recursive: true });
  writeFileSync(join(bench.target(), 'onnx'), 'mine');
  await expect(bench.ensure()).rejects.toMatchObject({ kind: 'storage' });
  expect(readFileSync(join(bench.target(), 'onnx'), 'utf8')).toBe('mine');
});

test('a part is not written through a link', async () => {
  const victim = join(folderWith({ victim: 'precious' }), 'victim');
  mkdirSync(join(bench.target(), 'onnx'), { recursive: true });
  symlinkSync(victim, `${bench.graphPath()}.part`);
  await bench.ensure();
  bench.expectComplete();
  expect(readFileSync(victim, 'utf8')).toBe('precious');
});

test('a file of the repository that could be taken for our own is as if it were not there', async () => {
  const repository = folderWith({ ...bench.files, [`${GRAPH}.part`]: 'not ours', '.slipway.lock': '' });
  const hub = await startHub({ models: { 'org/odd': repository } });
  const info = await hubSource({ endpoint: hub.url }).info('org/odd');
  await hub.close();
  expect(info.files.map(({ path }) => path)).toEqual(['config.json', GRAPH, 'tokenizer.json']);
});

test('a linked folder on the way is followed', async () => {
  symlinkSync(folderWith(), join(bench.root, 'org'));
  await bench.ensure();
  bench.expectComplete();
  expect(lstatSync(join(bench.root, 'org')).isSymbolicLink()).toBe(true);
});

test('an empty file needs no request', async () => {
  const empty = { path: 'empty.txt', size: 0, gitOid: 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391' };
  const spec = { ...bench.info, files: [...bench.info.files, empty] };
  await bench.ensure({ spec });
  expect(readFileSync(join(bench.target(), 'empty.txt'))).toEqual(Buffer.alloc(0));
  expect(bench.hub.requests.some(({ path }) => path.includes('empty.txt'))).toBe(false);
  expect((await bench.ensure({ spec, source: noSource })).downloaded).toBe(false);
});

test('manifests that were half written when their process was killed are swept up', async () => {
  mkdirSync(bench.target(), { recursive: true });
  for (const [name, age] of [
    ['old', 3_600_000],
    ['new', 0],
  ] as const) {
    const path = join(bench.target(), `${MANIFEST_NAME}.${name}.tmp`);
    writeFileSync(path, '{');
    utimesSync(path, new Date(Date.now() - age), new Date(Date.now() - age));
  }
  await bench.ensure();
  expect(readdirSync(bench.target()).filter((name) => name.endsWith('.tmp'))).toEqual([
    `${MANIFEST_NAME}.new.tmp`,
  ]);
});

test('another weight format of the same commit keeps its place in the manifest', async () => {
  const [one, other] = [bench.info.files.filter(({ path }) => path !== GRAPH), bench.info.files];
  await bench.ensure({ spec: { ...bench.info, files: other } });
  writeFileSync(join(bench.target(), 'config.json'), '');
  await bench.ensure({ spec: { ...bench.info, files: one } });
  bench.lines.length = 0;
  await bench.ensure({ source: noSource });
  expect(bench.lines).toEqual([]);
});

test('a rotten byte under an old time stamp is found when asked to look', async () => {
  await bench.ensure();
  const { mtime } = lstatSync(bench.graphPath());
  const rotten = Buffer.from(bench.graphBytes);
  rotten[1000]! ^= 1;
  writeFileSync(bench.graphPath(), rotten);
  utimesSync(bench.graphPath(), mtime, mtime);
  expect((await bench.ensure({ source: noSource })).downloaded).toBe(false);
  expect((await bench.ensure({ rehash: true })).downloaded).toBe(true);
  bench.expectComplete();
});

test('a rotten byte in the manifest only costs a look at the files', async () => {
  await bench.ensure();
  writeFileSync(join(bench.target(), MANIFEST_NAME), '\0'.repeat(200));
  expect((await bench.ensure({ source: noSource })).downloaded).toBe(false);
  expect(existsSync(bench.graphPath())).toBe(true);
});
