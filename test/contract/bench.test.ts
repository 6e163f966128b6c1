import { once } from 'node:events';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchResult } from '../../builder/bench/run.js';
import { runCli } from '../../builder/cli.js';
import { readBuilderConfig } from '../../builder/config.js';
import { fakeApp } from '../fakes/app.js';
import { fakeDocker } from '../fakes/docker.js';
import { sink } from '../unit/builder/support.js';

const details = {
  engine_restarts: 0,
  memory_bytes: { server: 40e6, engine: 60e6 },
  example: { text: 'a fine day' },
};

const servers: Server[] = [];
/** A model that takes so many milliseconds for each answer. */
async function model(milliseconds: number): Promise<{ address: string; seen: unknown[] }> {
  const seen: unknown[] = [];
  const app = fakeApp({
    task: 'text-classification',
    requiredKey: 'secret',
    status: () => ({ state: 'ready', details }),
    async run(resolved) {
      seen.push(resolved);
      await sleep(milliseconds);
      return [{ label: 'joy', score: 0.5 }];
    },
  });
  const server = createServer(app).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}
afterAll(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

async function bench(...args: string[]) {
  const [out, err] = [sink(), sink()];
  const config = readBuilderConfig({ KEY: 'secret' });
  const deps = {
    config,
    docker: fakeDocker(),
    packageRoot: '.',
    version: '1',
    stdout: out.stream,
    stderr: err.stream,
  };
  return { code: await runCli(['bench', ...args], deps), stdout: out.text(), stderr: err.text() };
}

test('a server is sent its own example with the key; every step is in the table and in the report', async () => {
  const { address, seen } = await model(10);
  const html = path.join(await mkdtemp(path.join(tmpdir(), 'slipway-bench-')), 'report.html');
  const steps = ['--concurrency', '1,2', '--rate', '20', '--requests', '10', '--warmup', '0'];
  const { code, stdout, stderr } = await bench(address, ...steps, '--html', html, '--quiet');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(seen).toHaveLength(30);
  for (const load of ['1 at once', '2 at once', '20/s'])
    expect(stdout).toMatch(new RegExp(`^${load} +[\\d.]+ +█.* ms .*100\\.0 MB +none of 10$`, 'm'));
  const page = await readFile(html, 'utf8');
  expect(page.match(/<svg/g)).toHaveLength(3);
  expect(page).not.toMatch(/<script|https?:\/\/(?!127\.0\.0\.1)/);
});

test('two targets take turns, and the ratio has its spread', async () => {
  const [slow, fast] = [await model(40), await model(10)];
  const flags = ['--concurrency', '1', '--requests', '30', '--slices', '3', '--warmup', '0', '--json'];
  const { code, stdout } = await bench(slow.address, '--against', fast.address, ...flags);
  expect(code).toBe(0);
  const { targets, comparisons } = JSON.parse(stdout) as BenchResult;
  expect(targets.map(({ steps }) => steps[0]!.requests)).toEqual([30, 30]);
  const { median, low, high } = comparisons[0]!.p50!;
  expect([low <= median, median <= high, median > 1.5]).toEqual([true, true, true]);
  expect(comparisons[0]!.requestsPerSecond!.median).toBeLessThan(0.7);
});

test('a mixture of bodies: one in each line of a file, or of several files', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'slipway-bench-'));
  const lines = path.join(folder, 'mixed.jsonl');
  await writeFile(lines, '{"text": "a"}\n\n{"text": "a longer text"}\n');
  const flags = ['--concurrency', '1', '--requests', '4', '--warmup', '0', '--json', '--quiet'];
  const { address, seen } = await model(0);
  const { code, stdout } = await bench(address, '--bodies', lines, ...flags);
  expect(code).toBe(0);
  expect((JSON.parse(stdout) as BenchResult).targets[0]!.bodies).toBe(2);
  expect(seen.map((input) => (input as { text: string }).text)).toEqual([
    ...['a', 'a longer text'],
    ...['a', 'a longer text'],
  ]);
  seen.length = 0;
  const files = ['x', 'y', 'z'].map((name) => path.join(folder, name));
  for (const file of files) await writeFile(file, JSON.stringify({ text: path.basename(file) }));
  await bench(address, ...files.flatMap((file) => ['--body', file]), ...flags);
  expect(seen.map((input) => (input as { text: string }).text)).toEqual(['x', 'y', 'z', 'x']);
  await writeFile(lines, '{"text": "a"}\nno JSON\n');
  const broken = await bench(address, '--bodies', lines);
  expect(broken).toMatchObject({ code: 2, stderr: expect.stringContaining('mixed.jsonl:2: is no JSON') });
  await writeFile(lines, '\n');
  expect((await bench(address, '--bodies', lines)).stderr).toContain('holds no body');
  expect((await bench(address, '--bodies', lines, '--body', files[0]!)).stderr).toContain('give one of them');
});

test('a server that answers nothing: exit 1, and the errors by status', async () => {
  const { address } = await model(0);
  const body = path.join(await mkdtemp(path.join(tmpdir(), 'slipway-bench-')), 'body.json');
  const missing = await bench(`${address}/run`, '--body', body);
  expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining("can't be read (ENOENT)") });
  const flags = ['--concurrency', '1', '--requests', '3', '--warmup', '0', '--quiet'];
  const { code, stdout, stderr } = await bench(`${address}/nowhere`, '--body', 'package.json', ...flags);
  expect(code).toBe(1);
  expect(stdout).toMatch(/3 × 404 of 3$/m);
  expect(stderr).toContain('has answered no request of a step (404)');
});

test.each([
  [['no such thing'], 2, 'is neither an address, nor an image of this engine, nor a model id'],
  [['http://127.0.0.1:1/run'], 2, 'say with --body'],
  [['http://127.0.0.1:1', '--rate', '0'], 2, 'expected a number above 0'],
  [['http://127.0.0.1:1', '--concurrency', '2000'], 2, 'expected numbers up to 1024'],
  [['http://127.0.0.1:1', '--requests', '1.5'], 2, 'expected a whole number'],
])('%j: exit %d', async (args, expected, message) => {
  const { code, stderr } = await bench(...args);
  expect(code).toBe(expected);
  expect(stderr).toContain(message);
});
