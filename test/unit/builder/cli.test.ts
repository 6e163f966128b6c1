import { mkdtempSync } from 'node:fs';
import { cp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runCli } from '../../../builder/cli.js';
import { readBuilderConfig } from '../../../builder/config.js';
import { BuilderError, EXIT } from '../../../builder/exit.js';
import { fakeDocker } from '../../fakes/docker.js';
import { sink } from './support.js';

const MODEL = path.resolve('test/fixtures/zoo/text-classification/distilbert/repo');

async function cli(args: string[], docker = fakeDocker()) {
  const [out, err] = [sink(), sink()];
  const config = readBuilderConfig({ XDG_CACHE_HOME: mkdtempSync(path.join(tmpdir(), 'slipway-cli-')) });
  const packageRoot = path.resolve('.');
  const deps = { config, docker, packageRoot, version: '1.2.3', stdout: out.stream, stderr: err.stream };
  return { code: await runCli(args, deps), stdout: out.text(), stderr: err.text() };
}

const COMMANDS = [
  'plan',
  'fetch',
  'build',
  'snapshot',
  'serve',
  'run',
  'list',
  'test',
  'bench',
  'logs',
  'stop',
  'rm',
  'prune',
  'completion',
  'verify',
  'export',
  'load',
  'manifest',
  'doctor',
];

describe('the command line', () => {
  test('help lists the commands and the exit codes, on stdout', async () => {
    const { code, stdout, stderr } = await cli(['--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const command of COMMANDS) expect(stdout).toContain(`\n  ${command}`);
    for (const exit of Object.values(EXIT)) expect(stdout).toMatch(new RegExp(`^  ${exit}\\s+\\S`, 'm'));
  });

  test.each(COMMANDS)('%s --help has an example', async (command) => {
    const { code, stdout } = await cli([command, '--help']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/Examples?:\n {2}(?:KEY=\S+ )?builder /);
  });

  test.each([
    [['nonsense']],
    [['build']],
    [['build', 'a b']],
    [['build', 'a/b', '--port', '70000']],
    [['build', 'a/b', '--task', 'juggling']],
    [['build', 'a/b', '--platform', 'linux/s390x']],
    [['build', 'a/b', '--base-image', 'x\nRUN y']],
    [['build', 'a/b', '--hub', 'not an address']],
    [['run', 'a/b', '--port', '99999']],
  ])('%j is wrong usage: exit 2 and a sentence on stderr', async (args) => {
    const { code, stdout, stderr } = await cli(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).not.toBe('');
  });

  test('plan gives one JSON document on stdout', async () => {
    const { code, stdout } = await cli(['plan', 'zoo/distilbert', '--from', MODEL, '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      spec: { id: 'zoo/distilbert', task: 'text-classification' },
      reasons: expect.arrayContaining([expect.stringContaining('text-classification')]),
      parameters: 33_828,
      files: { count: 5 },
      cached: { missingBytes: 0 },
      gate: { gated: false },
      devices: {
        cpu: { memory: { peakBytes: expect.any(Number) }, image: { basis: 'unknown', totalBytes: null } },
        cuda: { memory: null },
      },
      verdict: { fits: true },
    });
  });

  test('a plan that does not fit is printed, and refused with the reason', async () => {
    const { code, stdout, stderr } = await cli([
      'plan',
      'zoo/distilbert',
      '--from',
      MODEL,
      '--memory',
      '100m',
      '--quiet',
    ]);
    expect(code).toBe(3);
    expect(stdout).toMatch(/^verdict {2}does not fit/m);
    expect(stderr).toMatch(/^builder: does not fit a container of that size: needs .* of 104\.9 MB/);
    expect(await cli(['plan', 'zoo/distilbert', '--from', MODEL, '--memory', 'much'])).toMatchObject({
      code: 2,
    });
  });

  test('without a hub a plan is of what the cache holds, or says that nothing is there', async () => {
    const cache = mkdtempSync(path.join(tmpdir(), 'slipway-cli-cache-'));
    const nobody = ['--hub', 'http://127.0.0.1:9', '--cache', cache];
    const nothing = await cli(['plan', 'zoo/distilbert', ...nobody]);
    expect(nothing).toMatchObject({ code: 5, stdout: '' });
    expect(nothing.stderr).toContain('nothing of zoo/distilbert is in the cache either');

    const commit = 'c'.repeat(40);
    await cp(MODEL, path.join(cache, 'models/zoo/distilbert', commit), { recursive: true });
    const { code, stdout, stderr } = await cli(['plan', 'zoo/distilbert', ...nobody, '--json']);
    await rm(cache, { recursive: true });
    expect(stderr).toContain(`taken at commit ${commit} from the cache, as far as it was fetched`);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      spec: { commit, revision: 'main' },
      cached: { missingBytes: 0 },
    });
    // Each of the two tries a few times before it gives the hub up.
  }, 60_000);

  test('quiet says nothing on stderr', async () => {
    expect((await cli(['plan', 'zoo/distilbert', '--from', MODEL, '--quiet'])).stderr).toBe('');
    expect((await cli(['plan', 'zoo/distilbert', '--from', MODEL])).stderr).toContain('Read zoo/distilbert');
  });

  test('a task that is not for such models is refused', async () => {
    const unnamed = mkdtempSync(path.join(tmpdir(), 'slipway-cli-'));
    await cp(MODEL, unnamed, { recursive: true });
    await writeFile(path.join(unnamed, 'config.json'), '{}');
    const { code, stderr } = await cli(['plan', 'zoo/x', '--from', unnamed, '--task', 'text-to-video']);
    await rm(unnamed, { recursive: true });
    expect(code).toBe(3);
    expect(stderr).toMatch(/^builder: .*has no model_index\.json/m);
  });

  test('a folder that is not there is a failed source', async () => {
    expect(await cli(['plan', 'zoo/x', '--from', '/nonexistent'])).toMatchObject({ code: 5, stdout: '' });
  });

  test('without an engine: exit 4', async () => {
    const docker = {
      ...fakeDocker(),
      listImages: () => Promise.reject(new BuilderError('docker', 'no engine')),
    };
    expect(await cli(['list'], docker)).toMatchObject({ code: 4, stderr: 'builder: no engine\n' });
  });

  test('list names model images and leaves out all others', async () => {
    const docker = fakeDocker();
    const labels = { 'io.slipway.model': 'a/b', 'io.slipway.task': 'chat', 'io.slipway.baked': 'true' };
    const platform = 'linux/amd64';
    const references = ['slipway/a_b:latest'];
    const nothing = { layers: [], env: [], entrypoint: [], command: [], settings: {} };
    const image = { id: 'sha256:1', size: 5e6, created: 1, platform, references, ...nothing };
    docker.images.set('slipway/a_b:latest', { ...image, labels });
    docker.images.set('other', { ...image, id: 'sha256:2', labels: {} });
    const { stdout } = await cli(['list', '--json'], docker);
    expect(JSON.parse(stdout)).toEqual([
      expect.objectContaining({
        image: 'slipway/a_b:latest',
        model: 'a/b',
        task: 'chat',
        baked: true,
        bytes: 5e6,
      }),
    ]);
    expect((await cli(['list'], docker)).stdout).toMatch(/slipway\/a_b:latest +chat .*baked .*5\.0 MB/);
  });
});
