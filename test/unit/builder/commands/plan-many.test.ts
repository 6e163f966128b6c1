import { mkdtempSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runCli } from '../../../../builder/cli.js';
import { readBuilderConfig } from '../../../../builder/config.js';
import { fakeDocker } from '../../../fakes/docker.js';
import { type Hub, startHub } from '../../../fakes/hub.js';
import { sink } from '../support.js';

const zoo = (name: string) => path.resolve('test/fixtures/zoo', name, 'repo');

let hub: Hub;
let cache: string;

beforeAll(async () => {
  hub = await startHub({
    models: {
      'org/first': { dir: zoo('text-classification/distilbert'), pipeline_tag: 'text-classification' },
      'org/second': { dir: zoo('fill-mask/bert'), pipeline_tag: 'fill-mask' },
    },
  });
  cache = mkdtempSync(path.join(tmpdir(), 'slipway-plans-'));
});
afterAll(() => hub.close());

async function cli(...args: string[]) {
  const [out, err] = [sink(), sink()];
  const config = readBuilderConfig({ HF_ENDPOINT: hub.url, XDG_CACHE_HOME: cache });
  const deps = { config, docker: fakeDocker(), packageRoot: path.resolve('.'), version: '1' };
  const code = await runCli([...args, '--cache', cache], { ...deps, stdout: out.stream, stderr: err.stream });
  return { code, stdout: out.text(), stderr: err.text() };
}

const rowsOf = (stdout: string) =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/ {2,}/));

test('several models are one table, in the order that they were named in', async () => {
  const { code, stdout } = await cli('plan', 'org/second', 'org/first');
  expect(code).toBe(0);
  expect(rowsOf(stdout)).toEqual([
    ['MODEL', 'TASK', 'LANE', 'DTYPE', 'SIZE', 'MEMORY', 'FITS'],
    [
      'org/second',
      'fill-mask',
      'ONNX of the repository',
      'fp32',
      expect.any(String),
      expect.any(String),
      'yes',
    ],
    [
      'org/first',
      'text-classification',
      'ONNX of the repository',
      'fp32',
      ...Array(2).fill(expect.any(String)),
      'yes',
    ],
  ]);
});

test('with --json an array', async () => {
  const { stdout } = await cli('plan', 'org/first', 'org/second', '--json', '--quiet');
  expect(JSON.parse(stdout)).toEqual([
    expect.objectContaining({ model: 'org/first', state: 'planned', verdict: expect.any(Object) }),
    expect.objectContaining({ model: 'org/second', state: 'planned' }),
  ]);
});

test('one that fails says so in its row, and the exit tells of it', async () => {
  const { code, stdout, stderr } = await cli('plan', 'org/first', 'org/absent', '--quiet');
  expect(code).toBe(1);
  expect(rowsOf(stdout)[2]).toEqual(['org/absent', '-', '-', '-', '-', '-', expect.stringMatching(/^no: /)]);
  expect(stderr).toMatch(/^builder: 1 of 2 models can't be served as they are planned:\n {2}org\/absent: /);
});

test('one that does not fit is refused', async () => {
  const { code, stdout } = await cli('plan', 'org/first', 'org/second', '--memory', '100m', '--quiet');
  expect(code).toBe(3);
  expect(rowsOf(stdout)[1]!.at(-1)).toMatch(/^no: does not fit a container of that size/);
});

test('the models of a build file, whose other options are left alone', async () => {
  const file = path.join(cache, 'models.yaml');
  await writeFile(
    file,
    'defaults: { bake: true }\nmodels:\n  - org/first\n  - { id: org/second, dtype: fp32 }\n',
  );
  expect(rowsOf((await cli('plan', '--file', file)).stdout).map(([id]) => id)).toEqual([
    'MODEL',
    'org/first',
    'org/second',
  ]);
  const { code, stdout } = await cli('fetch', '--file', file, '--json', '--quiet');
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toEqual([
    expect.objectContaining({ model: 'org/first', state: 'fetched', folder: expect.any(String) }),
    expect.objectContaining({ model: 'org/second', state: 'fetched' }),
  ]);
});

test('a download that fails leaves the others alone', async () => {
  const { code, stdout, stderr } = await cli('fetch', 'org/absent', 'org/first', '--quiet');
  expect(code).toBe(1);
  expect(rowsOf(stdout).map(([id, state]) => [id, state])).toEqual([
    ['MODEL', 'STATE'],
    ['org/absent', 'failed'],
    ['org/first', 'fetched'],
  ]);
  expect(stderr).toContain('1 of 2 models failed:\n  org/absent: ');
});

test.each([
  [['plan', 'org/first', 'org/second', '--from', '.'], '--from is of one model'],
  [['fetch', 'org/first', 'org/second', '--revision', 'v1'], '--revision is of one model'],
  [['plan'], 'see builder plan --help'],
  [['plan', 'org/first', 'no id'], 'expected org/name'],
])('%j is wrong usage', async (args, said) => {
  const { code, stderr } = await cli(...args);
  expect(code).toBe(2);
  expect(stderr).toContain(said);
});
