/**
 * What one hostile caller costs everybody else: node bench/hostile.mjs [--seconds N] [--clients N] [--image PATH] [--gateway PATH].
 * Sends the worst bodies that the limits allow, several at a time, to a container of texts, one of images, and a
 * gateway; asks each for signs of life meanwhile. Prints how long those took, and the peak of memory.
 */
import { fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Agent, request } from 'undici';
import { freePort } from '../scripts/testing/free-port.mjs';
import { MB, rssOf, startServer, table } from './lib.mjs';
import { startGateway } from './lib/gateway-process.mjs';
import { hostileBodies, MEBI } from './lib/hostile-bodies.mjs';
import { randomFrom, round } from './lib/numbers.mjs';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '20' },
    clients: { type: 'string', default: '8' },
    gateway: { type: 'string', default: 'dist/gateway/main.js' },
    image: { type: 'string', default: 'dist/image/main.mjs' },
  },
});

const zoo = (path) => resolve('test/fixtures/zoo', path, 'repo');
const agent = new Agent({ connections: 64, headersTimeout: 600_000, bodyTimeout: 600_000 });

async function send({ run, headers }, { encoding, bytes }) {
  const answer = await request(run, {
    method: 'POST',
    headers: {
      ...{ 'content-type': 'application/json', ...headers },
      ...(encoding ? { 'content-encoding': encoding } : {}),
    },
    ...{ body: bytes, dispatcher: agent },
  }).catch(() => undefined);
  await answer?.body.dump();
  return answer?.statusCode ?? 'cut off';
}

/** Waits for signs of life while `work` goes on. */
async function watched(livez, work) {
  const prober = fork('bench/lib/prober.mjs', [livez]);
  await work;
  const waits = new Promise((told) => prober.once('message', told));
  prober.send('end');
  return (await waits).toSorted((a, b) => a - b);
}

const peakOf = (pid) =>
  Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) * 1024;

async function attack(target, bodies) {
  const random = randomFrom(7);
  const statuses = new Map();
  const before = rssOf([target.pid]);
  const until = performance.now() + Number(values.seconds) * 1000;
  let sent = 0;
  const client = async () => {
    while (performance.now() < until) {
      const status = await send(target, bodies[Math.floor(random() * bodies.length)]);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      sent++;
    }
  };
  const work = Promise.all(Array.from({ length: Number(values.clients) }, client));
  const waits = await watched(target.livez, work);
  const at = (share) => round(waits[Math.min(waits.length - 1, Math.floor(share * waits.length))], 1);
  console.log(target.name, Object.fromEntries(statuses));
  return {
    target: target.name,
    ...{ bodies: sent, 'livez p50 ms': at(0.5), 'p99 ms': at(0.99), 'longest ms': at(1) },
    ...{ 'RSS before MB': round(before / MB, 0), 'peak MB': round(peakOf(target.pid) / MB, 0) },
  };
}

async function container(name, dir, task, size) {
  const profile = task === 'image-classification' ? 'vision' : 'text';
  const server = await startServer({ dir, task, profile, image: values.image });
  await server.ready();
  const target = {
    name,
    pid: server.pid,
    run: `${server.url}/run`,
    livez: `${server.url}/livez`,
    headers: {},
  };
  return { rows: [await attack(target, hostileBodies(size))], stop: server.stop };
}

async function gateway() {
  const url = `http://127.0.0.1:${await freePort()}`;
  const models = [
    { id: 'org/text', task: 'text-classification', url },
    { id: 'org/image', task: 'image-classification', url },
  ];
  const running = await startGateway(models, { main: values.gateway });
  const { url: at, headers } = running;
  const target = (name, path) => ({
    ...{ name, pid: running.pid, headers },
    ...{ run: `${at}/models/v2/${path}`, livez: `${at}/livez` },
  });
  const rows = [
    await attack(target('gateway, texts', 'org/text'), hostileBodies(MEBI)),
    await attack(target('gateway, chats', 'openai/v1/chat/completions'), hostileBodies(MEBI)),
    await attack(target('gateway, images', 'org/image'), hostileBodies(48 * MEBI)),
  ];
  return { rows, stop: running.stop };
}

const rows = [];
for (const start of [
  () => container('container, texts', zoo('text-classification/distilbert'), 'text-classification', MEBI),
  () =>
    container('container, images', zoo('image-classification/vit-tiny'), 'image-classification', 48 * MEBI),
  gateway,
]) {
  const { rows: found, stop } = await start();
  rows.push(...found);
  await stop();
}
table(rows);
await agent.close();
