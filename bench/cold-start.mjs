/**
 * A call to a model that does not run, through a gateway over Docker: from the request to the first byte of its answer, with
 * the bundled demo model in a sealed-off container. Each round stops the model again.
 * Usage: node bench/cold-start.mjs [--rounds N] [--settle MS] [--against FOLDER]
 * With --against the gateway of another checkout takes part, in turn: before and after in one run.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { changeKeys } from '../dist/gateway/keys/key-file.js';
import { newKey } from '../dist/gateway/keys/key-store.js';
import { table } from './lib.mjs';
import { median } from './lib/numbers.mjs';

const MODEL = 'slipway/harbour-demo';
const NAMESPACE = 'bench-cold-start';
const STOPPED = new RegExp(`${MODEL} (?:ended|was)`, 'g');
const BODY = JSON.stringify({ text: 'Ships in the harbour', params: { max_new_tokens: 4 } });

const { values: options } = parseArgs({
  options: {
    ...{ rounds: { type: 'string', default: '10' }, settle: { type: 'string', default: '3000' } },
    against: { type: 'string' },
  },
});
const builds = { slipway: '.', ...(options.against ? { against: resolve(options.against) } : {}) };
const dir = mkdtempSync(join(tmpdir(), 'slipway-bench-cold-'));
const { secret, record } = newKey('bench', new Date());
await changeKeys(join(dir, 'keys.json'), () => [record]);

const build = ['build', MODEL, '--from', 'demo/model', '--bake', '--namespace', NAMESPACE];
execFileSync(process.execPath, ['dist/builder/main.js', ...build, '--out', join(dir, 'images'), '--quiet'], {
  stdio: 'ignore',
});

const docker = (...args) => execFileSync('docker', args, { encoding: 'utf8' }).trim();
const runs = (name) =>
  docker('ps', '--quiet', '--filter', `name=slipway-${name}-`).split('\n').filter(Boolean);

async function startGateway(name, folder) {
  const flags = ['--upstream', 'docker', '--name', name, '--namespace', NAMESPACE, '--offline'];
  flags.push('--keys', join(dir, 'keys.json'), '--port', '0', '--idle', '1s', '--memory', '2GB');
  const child = spawn(process.execPath, [join(folder, 'dist/gateway/main.js'), 'serve', ...flags], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (log += text));
  const [address] = await once(child.stdout.setEncoding('utf8'), 'data');
  return { url: `${address.trim()}/${MODEL}`, child, log: () => log };
}

/** @returns milliseconds to the first byte */
async function coldCall({ url, log }) {
  const stops = () => log().match(STOPPED)?.length ?? 0;
  const stopsBefore = stops();
  const started = performance.now();
  const response = await fetch(url, {
    ...{ method: 'POST', body: BODY },
    headers: { authorization: `Key ${secret}`, 'content-type': 'application/json' },
  });
  const took = performance.now() - started;
  if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}\n${log()}`);
  await response.arrayBuffer();
  while (stops() === stopsBefore) await sleep(50);
  await sleep(Number(options.settle));
  return took;
}

const gateways = [];
for (const [name, folder] of Object.entries(builds))
  gateways.push({ name, ms: [], ...(await startGateway(`bench-${name}`, folder)) });
try {
  await sleep(Number(options.settle));
  for (let at = 0; at <= Number(options.rounds); at++)
    for (const gateway of at % 2 ? gateways.toReversed() : gateways) {
      const ms = await coldCall(gateway);
      // The first call warms the page cache.
      if (at > 0) gateway.ms.push(ms);
    }
  const figures = ({ name, ms }) => ({
    name,
    median: Math.round(median(ms)),
    least: Math.round(Math.min(...ms)),
    most: Math.round(Math.max(...ms)),
  });
  console.log('From a call to a stopped model to the first byte, ms');
  table(gateways.map(figures));
  if (gateways.length > 1) {
    const ratios = gateways[0].ms.map((ms, at) => ms / gateways[1].ms[at]);
    console.log(`slipway / against, round by round: ${median(ratios).toFixed(2)}`);
  }
} finally {
  for (const { child } of gateways) {
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
  const left = gateways.flatMap(({ name }) => runs(`bench-${name}`));
  if (left.length > 0) docker('rm', '--force', ...left);
  rmSync(dir, { recursive: true, force: true });
}
