import { jest } from '@jest/globals';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hubSource } from '../../runtime/store/hub.js';
import { planModel } from '../../builder/plan/index.js';
import { type Hub, startHub } from '../fakes/hub.js';
import { ROOT, waitFor } from '../fakes/server.js';
import { folderWith } from '../unit/store/folders.js';

/** The argument `fetch` of an image: the bundled server as a process that downloads, verifies and ends. */

const REPO = join(ROOT, 'test/fixtures/zoo/text-classification/distilbert/repo');

jest.setTimeout(60_000);

let hub: Hub;
let env: Record<string, string>;

beforeEach(async () => {
  hub = await startHub({ models: { 'test/model': { dir: REPO, pipeline_tag: 'text-classification' } } });
  const source = hubSource({ endpoint: hub.url });
  const { spec } = await planModel({ id: 'test/model', source });
  const MODEL_SPEC = join(folderWith({ 'model.json': JSON.stringify(spec) }), 'model.json');
  env = { MODEL_SPEC, MODEL_DIR: folderWith(), HF_ENDPOINT: hub.url };
  hub.requests.length = 0;
});
afterEach(() => hub.close());

interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

function startImage(
  args: string[],
  settings: Record<string, string> = {},
): { child: ChildProcess; ended: Promise<Ended> } {
  const child = spawn(process.execPath, [join(ROOT, 'dist/image/main.mjs'), ...args], {
    env: { PATH: process.env['PATH'], TMPDIR: tmpdir(), ...env, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return { child, ended: endOf(child) };
}

async function endOf(child: ChildProcess): Promise<Ended> {
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', (text: Buffer) => (stdout += text.toString()));
  child.stderr?.on('data', (text: Buffer) => (stderr += text.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout, stderr };
}

const image = (args: string[], settings?: Record<string, string>) => startImage(args, settings).ended;
const folder = () => join(env['MODEL_DIR']!, 'test/model', hub.commitOf('test/model'));

test('downloads, verifies and ends with 0, without a KEY; the second time without a request', async () => {
  const first = await image(['fetch']);
  expect(first).toMatchObject({ code: 0, stderr: '' });
  expect(first.stdout).toMatch(/test\/model at [0-9a-f]{40} is complete/);
  const graph = 'onnx/model.onnx';
  expect(readFileSync(join(folder(), graph)).equals(readFileSync(join(REPO, graph)))).toBe(true);
  expect(hub.requests.length).toBeGreaterThan(0);
  hub.requests.length = 0;
  expect(await image(['fetch'])).toMatchObject({ code: 0, stderr: '' });
  expect(await image(['fetch', '--verify'])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('verifies the files'),
  });
  expect(hub.requests).toEqual([]);
});

test.each(['HF_ENDPOINT', 'HF_ENDPOINT_FILE'])('a mirror with a password, given as %s', async (name) => {
  const address = hub.url.replace('//', '//user:p%40ss@');
  const value = name === 'HF_ENDPOINT' ? address : join(folderWith({ endpoint: `${address}\n` }), 'endpoint');
  const { HF_ENDPOINT: _, ...others } = env;
  env = others;
  const told = await image(['fetch'], { [name]: value });
  expect(told).toMatchObject({ code: 0, stderr: '' });
  expect(hub.requests[0]?.headers.authorization).toBe(`Basic ${btoa('user:p@ss')}`);
  await hub.close();
  const failed = await image(['fetch'], { [name]: value, MODEL_DIR: folderWith() });
  expect(failed.code).toBe(1);
  expect(`${told.stdout}${failed.stdout}${failed.stderr}`).not.toMatch(/p%40ss|p@ss/);
});

test('a hub that is away: 1, and why', async () => {
  await hub.close();
  const { code, stderr } = await image(['fetch'], { HF_HUB_OFFLINE: '1' });
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /^slipway: the weights are not complete and HF_HUB_OFFLINE is set; put them into .*\n$/,
  );
});

test('a gate names the page to visit, and no token', async () => {
  await hub.close();
  hub = await startHub({ models: { 'test/model': { dir: REPO, gated: 'auto' } }, token: 'hf_right' });
  const { code, stdout, stderr } = await image(['fetch'], { HF_ENDPOINT: hub.url, HF_TOKEN: 'hf_wrong' });
  expect(code).toBe(1);
  expect(stderr).toMatch(/access to test\/model is restricted; ask for access at http:\S+\/test\/model/);
  expect(stdout + stderr).not.toContain('hf_wrong');
});

test('stopped by SIGTERM: its exit code, the lock is given back, and the next one goes on', async () => {
  hub.fault({ path: 'model.onnx', stallAfter: 100_000 });
  const { child, ended } = startImage(['fetch']);
  await waitFor(() => hub.requests.some(({ path }) => path.includes('model.onnx')));
  await waitFor(() => readdirSync(join(folder(), 'onnx')).length > 0);
  child.kill('SIGTERM');
  const { code, stderr } = await ended;
  expect({ code, stderr }).toEqual({
    code: 143,
    stderr: expect.stringMatching(/stopped by SIGTERM; .* is kept\n$/),
  });
  expect(readdirSync(folder())).not.toContain('.slipway.lock');
  expect(await image(['fetch'])).toMatchObject({ code: 0 });
});

test('builder fetch stopped by Ctrl-C: exit 130, the lock is given back, and the next call goes on', async () => {
  // The planner does not read this one.
  const file = 'special_tokens_map.json';
  hub.fault({ path: file, stallAfter: 100 });
  const to = folderWith();
  const start = () => {
    const args = ['dist/builder/main.js', 'fetch', 'test/model', '--hub', hub.url, '--to', to, '--cache', to];
    const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'ignore', 'pipe'] });
    return { child, ended: endOf(child) };
  };
  const dir = join(to, 'test/model', hub.commitOf('test/model'));
  const part = join(dir, `${file}.part`);
  const { child, ended } = start();
  await waitFor(() => existsSync(part) && statSync(part).size === 100);
  child.kill('SIGINT');
  expect(await ended).toMatchObject({
    code: 130,
    stderr: expect.stringMatching(/stopped by SIGINT; .* run it again to continue\n$/),
  });
  expect(readdirSync(dir)).not.toContain('.slipway.lock');
  expect(await start().ended).toMatchObject({ code: 0 });
  const ranges = hub.requests.filter(({ path }) => path.endsWith(file)).map(({ headers }) => headers.range);
  expect(ranges).toEqual([undefined, 'bytes=100-']);
});

test.each([[['nonsense']], [['fetch', '--nonsense']], [['--help']]])(
  '%j is refused with what there is',
  async (args) => {
    const { code, stdout, stderr } = await image(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(
      /^slipway: unknown argument "--?\w+|"; there is: nothing \(serve the model\), "fetch"/,
    );
  },
);

test('a server still needs its KEY', async () => {
  expect(await image([])).toMatchObject({ code: 2, stderr: expect.stringContaining('KEY is not set') });
});
