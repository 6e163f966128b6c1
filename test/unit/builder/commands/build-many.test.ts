import { existsSync, mkdtempSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runCli } from '../../../../builder/cli.js';
import { readBuilderConfig } from '../../../../builder/config.js';
import { BuilderError } from '../../../../builder/exit.js';
import { fakeDocker } from '../../../fakes/docker.js';
import { sink } from '../support.js';

const zoo = (name: string) => path.resolve('test/fixtures/zoo', name, 'repo');

const root = mkdtempSync(path.join(tmpdir(), 'slipway-many-'));
const file = path.join(root, 'models.yaml');

beforeAll(async () => {
  await mkdir(path.join(root, 'dist/image'), { recursive: true });
  await writeFile(path.join(root, 'dist/image/main.mjs'), 'export {};');
  for (const name of ['templates', 'node_modules', 'package.json'])
    await symlink(path.resolve(name), path.join(root, name));
  await symlink(zoo('fill-mask/bert'), path.join(root, 'bert'));
  const models = [
    '  - { id: zoo/first, from: ./bert }',
    '  - { id: zoo/absent, from: ./nowhere }',
    `  - { id: zoo/last, from: ${zoo('text-classification/distilbert')}, namespace: other }`,
  ];
  await writeFile(file, ['defaults: { bake: true, out: images }', 'models:', ...models, ''].join('\n'));
});

async function cli(args: string[], docker = fakeDocker()) {
  const [out, err] = [sink(), sink()];
  const config = readBuilderConfig({ XDG_CACHE_HOME: path.join(root, 'cache') });
  const deps = {
    config,
    docker,
    packageRoot: root,
    version: '1.2.3',
    stdout: out.stream,
    stderr: err.stream,
  };
  const args_ = ['build', '--out', path.join(root, 'out'), ...args];
  return { code: await runCli(args_, deps), stdout: out.text(), stderr: err.text() };
}

const REASON = /zoo\/absent: .*nowhere is not there/;

test('models are built in the order of the file; one that fails leaves the others alone', async () => {
  const docker = fakeDocker();
  const { code, stdout, stderr } = await cli(['--file', file], docker);
  expect(code).toBe(1);
  const built = docker.builds
    .flatMap(({ references }) => references[0]!)
    .filter((name) => !/runtime/.test(name));
  expect(built).toEqual(['slipway/zoo_first:latest', 'other/zoo_last:latest']);
  expect(stdout.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
    ['MODEL', 'STATE', 'RESULT'],
    ['zoo/first', 'built', 'slipway/zoo_first:latest'],
    ['zoo/absent', 'failed', expect.stringContaining('nowhere is not there')],
    ['zoo/last', 'built', 'other/zoo_last:latest'],
    [''],
  ]);
  expect(stderr).toContain('builder: 1 of 3 models failed:\n');
  expect(stderr).toMatch(REASON);
  // Everything is read before anything is built.
  expect(stderr.indexOf('zoo/last: Read')).toBeLessThan(stderr.indexOf('Runtime image'));

  const again = await cli(['--file', file, '--json', '--quiet'], docker);
  expect(again.code).toBe(1);
  expect(JSON.parse(again.stdout)).toEqual({
    models: [
      expect.objectContaining({
        model: 'zoo/first',
        state: 'unchanged',
        images: [expect.objectContaining({ image: 'slipway/zoo_first:latest', baked: true })],
      }),
      { model: 'zoo/absent', state: 'failed', reason: expect.stringContaining('nowhere is not there') },
      expect.objectContaining({ model: 'zoo/last', state: 'unchanged' }),
    ],
  });
}, 60_000);

test('a build that fails leaves the next one alone', async () => {
  const docker = fakeDocker();
  const { buildImage } = docker;
  docker.buildImage = (context, options, onLine) =>
    options.references[0]!.includes('zoo_first')
      ? Promise.reject(new BuilderError('failure', 'the disk is full'))
      : buildImage(context, options, onLine);
  const { code, stdout } = await cli(['--file', file], docker);
  expect(code).toBe(1);
  expect(stdout).toMatch(/zoo\/first +failed +the disk is full/);
  expect(stdout).toMatch(/zoo\/last +built/);
}, 60_000);

test('a dry run changes nothing and says what each model would be', async () => {
  const docker = fakeDocker();
  const out = path.join(root, 'untouched');
  const { code, stdout } = await cli(['--file', file, '--dry-run', '--out', out], docker);
  expect({ code, builds: docker.builds }).toEqual({ code: 1, builds: [] });
  expect(stdout).toMatch(/image +slipway\/zoo_first:latest/);
  expect(stdout).toMatch(/image +other\/zoo_last:latest/);
  expect(existsSync(out)).toBe(false);
}, 60_000);

test('without an engine nothing is read: exit 4', async () => {
  const docker = { ...fakeDocker(), info: () => Promise.reject(new BuilderError('docker', 'no engine')) };
  expect(await cli(['--file', file], docker)).toEqual({
    code: 4,
    stdout: '',
    stderr: 'builder: no engine\n',
  });
});

test.each([
  [['--file', path.join(root, 'none.yaml')], "none.yaml: can't be read (ENOENT)"],
  [[], 'name a model, or write ./slipway.yaml'],
])('%j is wrong usage', async (args, said) => {
  const { code, stderr } = await cli(args);
  expect(code).toBe(2);
  expect(stderr).toContain(said);
});
