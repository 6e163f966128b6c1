/**
 * Serves the reference models of test/fixtures on a device and compares the answers with Python's, each case with its own
 * tolerance.
 * Prints a line for each model, what differs below it, and one line of counts.
 *
 * A machine with a GPU may have nothing but Node.js, so it is bundled first, beside the modules that find the fixtures:
 *   npx esbuild scripts/devices/compare.ts --bundle --platform=node --format=esm --external:sharp \
 *     --outfile=test/parity/compare-devices.mjs
 *   node test/parity/compare-devices.mjs --device cuda [--app FOLDER] [--roots zoo,zoo-weights] [--only TEXT] [--jobs N]
 * `--dtype q8` packs the weights and compares with a tenth of tolerance. `--app` is the folder of a built package (dist/, node_modules/) whose ONNX Runtime has the CUDA provider.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Compare, difference } from '../../test/parity/difference.js';
import { modelAt, type ZooModel, zooPlaces } from '../../test/parity/zoo.js';

const { values: options } = parseArgs({
  options: {
    device: { type: 'string', default: 'cuda' },
    app: { type: 'string', default: process.cwd() },
    roots: { type: 'string', default: 'zoo,zoo-weights' },
    only: { type: 'string', default: '' },
    dtype: { type: 'string' },
    jobs: { type: 'string', default: '4' },
    cache: { type: 'string', default: '/tmp/device-cache' },
    port: { type: 'string', default: '9100' },
  },
});

/** Packed weights answer otherwise: whether by far is seen here, and texts differ. */
const PACKED: Compare = { kind: 'json', atol: 0.1, rtol: 0.1 };

const KEY = 'local';
const START_MS = 120_000;

interface Server {
  address: string;
  stderr: () => string;
  stop: () => Promise<void>;
}

async function serve(model: ZooModel, port: number): Promise<Server> {
  const args = ['serve', model.about.id, '--from', model.repo, '--task', model.task];
  if (options.dtype) args.push('--dtype', options.dtype, '--weights', 'own');
  const entry = join(options.app, 'dist/builder/main.js');
  const child = spawn(
    process.execPath,
    [entry, ...args, '--device', options.device, '--port', String(port), '--cache', options.cache, '--quiet'],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const ended = once(child, 'exit');
  const address = `http://127.0.0.1:${port}`;
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
  };
  for (const started = Date.now(); Date.now() - started < START_MS;) {
    if (child.exitCode !== null) break;
    const ready = await fetch(`${address}/health`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (ready) return { address, stderr: () => stderr, stop };
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  if (child.exitCode === null) await stop();
  throw new Error(`did not start: ${stderr.trim().split('\n').slice(-3).join(' | ')}`);
}

async function run(
  address: string,
  body: unknown,
): Promise<{ status: number; answer: { output?: unknown } }> {
  const response = await fetch(`${address}/run`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${KEY}` },
    body: JSON.stringify(body),
  });
  return { status: response.status, answer: (await response.json()) as { output?: unknown } };
}

async function differences(model: ZooModel, address: string): Promise<string[]> {
  const found: string[] = [];
  for (const { name, request, expect, expect_error, compare } of model.cases) {
    const { status, answer } = await run(address, request);
    if (expect_error) {
      if (status < 400 || status >= 500) found.push(`${name}: ${status} where an error is expected`);
    } else if (status !== 200) {
      found.push(`${name}: ${status} ${JSON.stringify(answer).slice(0, 300)}`);
    } else {
      const differs = await difference(answer.output, expect, options.dtype ? PACKED : compare);
      if (differs !== null) found.push(`${name}: ${differs.slice(0, 300)}`);
    }
  }
  return found;
}

async function usedDevice(address: string): Promise<string> {
  const response = await fetch(`${address}/status`, { headers: { authorization: `Bearer ${KEY}` } });
  const { output } = (await response.json()) as { output: { device: { used: string; reason: string } } };
  const { used, reason } = output.device;
  return used === options.device ? '' : `computes on ${used}: ${reason}`;
}

const counts = { models: 0, equal: 0, cases: 0, different: 0, failed: 0 };

async function check(model: ZooModel, port: number): Promise<void> {
  const title = `${model.task}/${model.name}`;
  counts.models++;
  const started = Date.now();
  try {
    const server = await serve(model, port);
    const startSeconds = (Date.now() - started) / 1000;
    try {
      const elsewhere = await usedDevice(server.address);
      const found = elsewhere ? [elsewhere] : await differences(model, server.address);
      counts.cases += model.cases.length;
      counts.different += found.length;
      if (found.length === 0) counts.equal++;
      console.log(
        `${found.length === 0 ? 'equal' : 'DIFFERENT'} ${title} (start ${startSeconds.toFixed(1)} s)`,
      );
      for (const line of found) console.log(`  ${line}`);
    } finally {
      await server.stop();
    }
  } catch (error) {
    counts.failed++;
    console.log(`FAILED ${title}: ${(error as Error).message}`);
  }
}

const places = (await zooPlaces(options.roots.split(','))).filter(({ task, name }) =>
  `${task}/${name}`.includes(options.only),
);
const queue = places.values();
await Promise.all(
  Array.from({ length: Number(options.jobs) }, async (_, worker) => {
    for (const place of queue) await check(await modelAt(place), Number(options.port) + worker);
  }),
);
console.log(JSON.stringify({ device: options.device, ...counts }));
