import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  symlinkSync,
} from 'node:fs';
import path from 'node:path';
import { Writable } from 'node:stream';
import { runCli } from '../../../../builder/cli.js';
import { readBuilderConfig } from '../../../../builder/config.js';
import { parseSpec } from '../../../../runtime/store/spec-file.js';
import { fakeDocker } from '../../../fakes/docker.js';
import { type Hub, startHub } from '../../../fakes/hub.js';
import { folderWith } from '../../store/folders.js';

const REPO = path.resolve('test/fixtures/zoo/text-classification/distilbert/repo');
const GRAPH = 'onnx/model.onnx';

let hub: Hub;
let cache: string;

beforeEach(async () => {
  const model = { dir: REPO, pipeline_tag: 'text-classification' };
  hub = await startHub({ models: { 'org/name': model, 'org/gated': { ...model, gated: 'auto' } } });
  cache = folderWith();
});
afterEach(() => hub.close());

function sink() {
  const chunks: string[] = [];
  const stream = new Writable({ write: (chunk, _, done) => (chunks.push(String(chunk)), done()) });
  return { stream: stream as unknown as NodeJS.WriteStream, text: () => chunks.join('') };
}

async function fetchCli(...args: string[]) {
  const [out, err] = [sink(), sink()];
  const config = readBuilderConfig({ HF_ENDPOINT: hub.url });
  const deps = { config, docker: fakeDocker(), packageRoot: path.resolve('.'), version: '1' };
  const given = ['fetch', ...args, '--cache', cache];
  const code = await runCli(given, { ...deps, stdout: out.stream, stderr: err.stream });
  return { code, stdout: out.text(), stderr: err.text() };
}

/** Of the whole file: a plan looks at its first bytes. */
const downloads = () =>
  hub.requests.filter(
    ({ path, headers }) =>
      path.includes('resolve') && path.endsWith('tokenizer.json') && headers.range !== 'bytes=0-2',
  ).length;
const same = (dir: string) =>
  readFileSync(path.join(dir, GRAPH)).equals(readFileSync(path.join(REPO, GRAPH)));

test('into the cache: the folder on stdout, and nothing is fetched twice', async () => {
  const { code, stdout, stderr } = await fetchCli('org/name');
  expect(code).toBe(0);
  const dir = path.join(cache, 'models/org/name', hub.commitOf('org/name'));
  expect(stdout).toBe(`${dir}\n`);
  expect(stderr).toMatch(/Have \d+ files of the model/);
  expect(same(dir)).toBe(true);
  expect(downloads()).toBe(1);
  const again = await fetchCli('org/name', '--json');
  expect(JSON.parse(again.stdout)).toMatchObject({ folder: dir, downloadedBytes: 0, spec: null });
  expect(downloads()).toBe(1);
});

test('the JSON document says what lies where', async () => {
  const { stdout } = await fetchCli('org/name', '--json', '--quiet');
  const document = JSON.parse(stdout) as { files: { path: string; size: number }[]; bytes: number };
  expect(document).toMatchObject({
    model: 'org/name',
    revision: 'main',
    commit: hub.commitOf('org/name'),
    task: 'text-classification',
    dtype: 'fp32',
    bytes: document.files.reduce((sum, { size }) => sum + size, 0),
    downloadedBytes: document.bytes,
  });
  expect(document.files.map((file) => file.path)).toContain(GRAPH);
});

test('into a folder to carry away: as images expect it, with the description of the model', async () => {
  const to = path.join(folderWith(), 'stick');
  const { code, stdout } = await fetchCli('org/name', '--to', to, '--json');
  expect(code).toBe(0);
  const commit = hub.commitOf('org/name');
  const { folder, spec } = JSON.parse(stdout) as { folder: string; spec: string };
  expect(folder).toBe(path.join(to, 'org/name', commit));
  expect(spec).toBe(`${folder}.json`);
  expect(parseSpec(readFileSync(spec, 'utf8'))).toMatchObject({ id: 'org/name', commit });
  expect(same(folder)).toBe(true);
  expect(existsSync(path.join(cache, 'models'))).toBe(false);
});

test('what the cache holds is copied and verified, not fetched again', async () => {
  await fetchCli('org/name');
  const to = folderWith();
  const { stdout } = await fetchCli('org/name', '--to', to, '--json');
  const { folder, downloadedBytes } = JSON.parse(stdout) as { folder: string; downloadedBytes: number };
  expect(same(folder)).toBe(true);
  expect(downloadedBytes).toBe(0);
  expect(downloads()).toBe(1);
});

test('from a local folder, without a hub', async () => {
  const to = folderWith();
  const { code, stdout } = await fetchCli('org/name', '--from', REPO, '--to', to);
  expect(code).toBe(0);
  expect(same(stdout.trim())).toBe(true);
  expect(hub.requests).toEqual([]);
});

test('a file that has gone is fetched alone', async () => {
  const dir = (await fetchCli('org/name')).stdout.trim();
  renameSync(path.join(dir, GRAPH), path.join(cache, 'away'));
  const { stdout } = await fetchCli('org/name', '--json');
  const { downloadedBytes } = JSON.parse(stdout) as { downloadedBytes: number };
  expect(downloadedBytes).toBe(readFileSync(path.join(REPO, GRAPH)).length);
});

test.each([
  ['a gated model', ['org/gated'], 5, /accept its terms at http:\S+\/org\/gated/],
  ['no such model', ['org/none'], 5, /org\/none was not found/],
  ['no such revision', ['org/name', '--revision', 'v9'], 5, /no such revision/],
  ['no id', [], 2, /name a model, or write \.\/slipway\.yaml/],
])('%s has its exit code and its sentence', async (_, args, code, message) => {
  const finished = await fetchCli(...args);
  expect(finished).toMatchObject({ code, stdout: '' });
  expect(finished.stderr).toMatch(message);
});

test('a folder that cannot be one names the flag', async () => {
  const to = path.join(folderWith({ file: 'x' }), 'file');
  const finished = await fetchCli('org/name', '--to', to);
  expect(finished).toMatchObject({ code: 1, stdout: '' });
  expect(finished.stderr).toMatch(/a file lies where a folder belongs/);
});

/** A snapshot as the hub's Python client lays it out. */
function snapshot(): { root: string; folder: string; outside: string } {
  const root = folderWith({ 'outside/secret': 'x' });
  const repository = path.join(root, 'models--org--name');
  const folder = path.join(repository, 'snapshots', 'a'.repeat(40));
  const entries = readdirSync(REPO, { recursive: true, withFileTypes: true }).filter(
    (one) => one.isFile() && !one.name.startsWith('.'),
  );
  entries.forEach((entry, i) => {
    const from = path.join(entry.parentPath, entry.name);
    const blob = path.join(repository, 'blobs', `${i}`.padStart(40, '0'));
    const link = path.join(folder, path.relative(REPO, from));
    for (const dir of [blob, link].map((one) => path.dirname(one))) mkdirSync(dir, { recursive: true });
    copyFileSync(from, blob);
    symlinkSync(path.relative(path.dirname(link), blob), link);
  });
  return { root, folder, outside: path.join(root, 'outside/secret') };
}

const everything = (dir: string) =>
  (readdirSync(dir, { recursive: true }) as string[]).map((name) => {
    const { size, mtimeMs } = lstatSync(path.join(dir, name));
    return { name, size, mtimeMs };
  });

describe('a snapshot of the hub client’s cache', () => {
  test('is served from where it lies, and nothing is written into it', async () => {
    const { root, folder } = snapshot();
    const before = everything(root);
    const { code, stdout, stderr } = await fetchCli('org/name', '--from', folder);
    expect([code, stdout]).toEqual([0, `${folder}\n`]);
    expect(stderr).toContain('verifies the files');
    expect(everything(root)).toEqual(before);
    // What was verified is known the next time.
    const again = await fetchCli('org/name', '--from', folder);
    expect([again.code, again.stderr]).toEqual([0, expect.not.stringContaining('verifies the files')]);
    expect(everything(root)).toEqual(before);
  });

  test('may not lead out of its repository', async () => {
    const { folder, outside } = snapshot();
    symlinkSync(outside, path.join(folder, 'other.json'));
    const { code, stderr } = await fetchCli('org/name', '--from', folder);
    expect(code).not.toBe(0);
    expect(stderr).toMatch(/other\.json is a link that leads out of the folder/);
  });

  test('links into blobs are followed nowhere else', async () => {
    const { root, folder } = snapshot();
    const elsewhere = path.join(root, 'models--org--name', 'copies', 'x');
    mkdirSync(elsewhere, { recursive: true });
    symlinkSync(realpathSync(path.join(folder, 'config.json')), path.join(elsewhere, 'config.json'));
    const { stderr } = await fetchCli('org/name', '--from', elsewhere);
    expect(stderr).toMatch(/config\.json is a link that leads out of the folder/);
  });
});
