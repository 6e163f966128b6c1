/**
 * The gateway's own cost: refused calls a second on one core beside a stream, and what it adds to a call.
 * Usage: node bench/gateway.mjs [--rounds 5] [--seconds 5] [--only refused,overhead]
 */
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { changeKeys } from '../dist/gateway/keys/key-file.js';
import { newKey } from '../dist/gateway/keys/key-store.js';
import { startServer, table } from './lib.mjs';
import { cpuOfTree } from './lib/cpu.mjs';
import { median, percentile, round, sorted } from './lib/numbers.mjs';

const { values } = parseArgs({
  options: { rounds: { type: 'string' }, seconds: { type: 'string' }, only: { type: 'string' } },
});
const rounds = Number(values.rounds ?? 5);
const seconds = Number(values.seconds ?? 5);
const parts = (values.only ?? 'refused,overhead').split(',');

const dir = mkdtempSync(join(tmpdir(), 'slipway-bench-gateway-'));
const children = [];
for (const name of ['SIGINT', 'SIGTERM']) process.once(name, () => process.exit(1));
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(dir, { recursive: true, force: true });
});

/** A program on one core; the gateway alone on the first, all that measures it on the second. Its log goes to a file. */
function pinned(core, args) {
  const output = join(dir, `output-${children.length}`);
  const child = spawn('taskset', ['-c', String(core), process.execPath, ...args], {
    stdio: ['ignore', openSync(output, 'w'), 'ignore'],
    env: { ...process.env, LOG_FORMAT: 'json' },
  });
  children.push(child);
  return { child, pid: child.pid, address: addressIn(output) };
}

async function addressIn(output) {
  for (;;) {
    const found = /^http:\S+$/m.exec(readFileSync(output, 'utf8'));
    if (found) return found[0];
    await new Promise((tick) => setTimeout(tick, 20));
  }
}

const standIn = (waitMs) => pinned(1, ['bench/lib/container-stand-in.mjs', String(waitMs)]).address;

const [one, two] = [newKey('one', new Date()), newKey('two', new Date())];
const keys = join(dir, 'keys.json');

/** @returns its address below which models lie, and its process */
async function startGateway(models, flags = []) {
  const catalog = join(dir, `models-${children.length}.json`);
  const rows = models.map(({ id, address }) => ({ id, task: 'text-classification', addresses: [address] }));
  writeFileSync(catalog, JSON.stringify({ models: rows }));
  const serve = ['serve', '--port', '0', '--upstream', 'static', '--catalog', catalog, '--keys', keys];
  const records = ['--usage', join(dir, `usage-${children.length}`), '--audit', join(dir, 'audit')];
  const { child, address } = pinned(0, ['dist/gateway/main.js', ...serve, ...records, ...flags]);
  return { url: await address, child };
}

const load = fork('bench/lib/http-load.mjs', {
  execPath: 'taskset',
  execArgv: ['-c', '1', process.execPath],
});
children.push(load);

async function run(job) {
  load.send(job);
  return (await once(load, 'message'))[0];
}

const BODY = JSON.stringify({ text: 'the sea is calm today' });
const headers = (secret) => ({ authorization: `Key ${secret}`, 'content-type': 'application/json' });

/** A third with keys that nobody knows; the others ask for models that are not there, most of them over the limit. */
async function refused() {
  const { url, child } = await startGateway(
    [{ id: 'org/stream', address: await standIn(0) }],
    ['--rate', '300/1s'],
  );
  const nobody = { url: `${url}/org/stream`, headers: headers('slw_nobody'), body: BODY };
  const unknown = { url: `${url}/no/such`, headers: headers(one.secret), body: BODY };
  // The task does not stream, but the stand-in does: the gateway passes on what comes.
  const stream = {
    ...{ url: `${url}/org/stream`, headers: headers(two.secret) },
    body: JSON.stringify({ text: 'x', stream: true }),
  };
  const job = { requests: [nobody, unknown, unknown], perSecond: 1000, seconds, stream };
  const rows = [];
  await run({ ...job, seconds: 1 });
  for (let i = 0; i < rounds; i++) {
    const before = cpuOfTree(child.pid);
    const { times, statuses, gaps } = await run(job);
    const [order, pauses] = [sorted(times), sorted(gaps)];
    const ms = (list, share) => round(percentile(list, share), 2);
    rows.push({
      ...{ round: i + 1, p50: ms(order, 0.5), p99: ms(order, 0.99), most: ms(order, 1) },
      ...{
        'gap p50': ms(pauses, 0.5),
        'gap p99': ms(pauses, 0.99),
        cores: round((cpuOfTree(child.pid) - before) / seconds, 2),
      },
      answers: Object.entries(statuses)
        .map((each) => each.join(': '))
        .join(', '),
    });
  }
  child.kill();
  console.log('1000 refused calls a second on one core, milliseconds; pieces of a stream come every 20 ms');
  table(rows);
  console.log(`median of p99: ${median(rows.map(({ p99 }) => p99))} ms`);
}

async function overhead() {
  const model = await startServer({
    dir: 'test/fixtures/zoo/text-classification/distilbert/repo',
    ...{ task: 'text-classification', env: { LOG_LEVEL: 'warn' } },
  });
  await model.ready();
  const containers = [
    { id: 'stand-in/0ms', address: await standIn(0) },
    { id: 'stand-in/5ms', address: await standIn(5) },
    { id: 'stand-in/20ms', address: await standIn(20) },
    { id: 'tiny/model', address: model.url },
  ];
  const { url, child } = await startGateway(containers, ['--rate', '1000000/1s']);
  const ask = async (target, connections, time = seconds) => {
    const requests = [{ url: target, headers: headers(one.secret), body: BODY }];
    const before = cpuOfTree(child.pid);
    const { times, statuses } = await run({ requests, connections, seconds: time });
    return {
      cpuMs: ((cpuOfTree(child.pid) - before) * 1000) / times.length,
      median: median(times),
      rate: times.length / time,
      failed: times.length - (statuses[200] ?? 0),
    };
  };
  const rows = [];
  for (const { id, address } of containers) {
    for (const connections of [1, 16]) {
      const seen = [];
      for (let i = 0; i < rounds; i++) {
        const pair = [() => ask(`${address}/run`, connections), () => ask(`${url}/${id}`, connections)];
        if (i === 0) for (const each of [`${address}/run`, `${url}/${id}`]) await ask(each, connections, 1);
        const [first, second] = i % 2 === 0 ? pair : pair.toReversed();
        const [a, b] = [await first(), await second()];
        const [direct, through] = i % 2 === 0 ? [a, b] : [b, a];
        seen.push({ direct, through, more: through.median - direct.median });
      }
      const mid = (pick, digits = 2) => round(median(seen.map(pick)), digits);
      rows.push({
        ...{
          name: `${id}@${connections}`,
          direct: mid(({ direct }) => direct.median),
          through: mid(({ through }) => through.median),
        },
        ...{
          more: mid(({ more }) => more),
          'CPU ms': mid(({ through }) => through.cpuMs),
          'direct/s': mid(({ direct }) => direct.rate, 0),
        },
        ...{
          'through/s': mid(({ through }) => through.rate, 0),
          failed: seen.reduce((sum, { direct, through }) => sum + direct.failed + through.failed, 0),
        },
      });
    }
  }
  child.kill();
  await model.stop();
  console.log('Median milliseconds of a call, directly and through the gateway, and calls a second');
  table(rows);
}

await changeKeys(keys, () => [one.record, two.record]);
if (parts.includes('refused')) await refused();
if (parts.includes('overhead')) await overhead();
process.exit();
