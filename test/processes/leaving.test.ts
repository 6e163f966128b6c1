import { jest } from '@jest/globals';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import sharp from 'sharp';
import { changeKeys } from '../../gateway/keys/key-file.js';
import { newKey } from '../../gateway/keys/key-store.js';
import { freePort, modelEnv, ROOT, type ServerProcess, startServer, waitFor } from '../fakes/server.js';

/**
 * Callers who leave real servers: within a step nothing of theirs is computed and nothing is held. What the model computes
 * is counted by itself, as runs of its graphs.
 */

jest.setTimeout(120_000);

/** Beams make steps slow: two hundred and more of these take seconds. */
const STEPS = 240;
const params = { max_new_tokens: STEPS, min_new_tokens: STEPS, num_beams: 16 };
/** OpenAI's interface knows no least length. */
const endless = { max_tokens: STEPS, logit_bias: { 2: -100 } };
const alone = { max_new_tokens: STEPS, min_new_tokens: STEPS };

interface Call {
  url: string;
  body: object;
  headers?: Record<string, string>;
}

/** A call whose connection the caller can cut. */
function call({ url, body, headers = {} }: Call) {
  const made = request(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers } });
  made.on('error', () => {});
  made.end(JSON.stringify(body));
  return {
    leave: () => made.destroy(),
    firstPiece: async () => {
      const [response] = await once(made, 'response');
      await once(response, 'data');
    },
  };
}

/** Runs of the model's graphs, all of which have been told. */
async function graphRuns(server: ServerProcess): Promise<number> {
  const read = async () => (await server.status())['graph_runs'] as number;
  let runs = await read();
  for (;;) {
    await delay(500);
    const now = await read();
    if (now === runs) return runs;
    runs = now;
  }
}

async function underWay(server: ServerProcess): Promise<number> {
  const { running, queued } = (await server.status()) as Record<string, number>;
  return running! + queued!;
}

/** Nothing runs, nothing waits, nothing is held, and nothing more is computed. */
async function atRest(server: ServerProcess, withinMs = 5000): Promise<number> {
  await waitFor(async () => (await underWay(server)) === 0, withinMs);
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  for (const gauge of ['pending_bytes', 'running', 'queued'])
    expect(metrics).toMatch(new RegExp(`^slipway_${gauge} 0$`, 'm'));
  return graphRuns(server);
}

/** A gateway in front of the server; its own process. */
async function startGateway(models: object[]) {
  const dir = await mkdtemp(join(tmpdir(), 'slipway-leaving-'));
  const key = newKey('leaving', new Date());
  await changeKeys(join(dir, 'keys.json'), () => [key.record]);
  await writeFile(join(dir, 'models.yaml'), JSON.stringify({ models }));
  const [port, metricsPort] = [await freePort(), await freePort()];
  const flags = ['--upstream', 'static', '--catalog', join(dir, 'models.yaml'), '--concurrent', '100'];
  flags.push('--keys', join(dir, 'keys.json'), '--port', String(port), '--metrics', String(metricsPort));
  const child = spawn(process.execPath, ['dist/gateway/main.js', 'serve', ...flags], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  await once(child.stdout, 'data');
  return {
    child,
    at: `http://127.0.0.1:${port}/models/v2`,
    headers: { authorization: key.secret },
    async atRest() {
      const metrics = async () => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
      const gauges = ['calls', 'pending_bytes', 'questions', 'waiting'];
      await waitFor(async () => {
        const text = await metrics();
        return gauges.every((gauge) => new RegExp(`^slipway_gateway_${gauge} 0$`, 'm').test(text));
      }, 5000);
    },
  };
}

describe('a generation', () => {
  let server: ServerProcess;
  let gateway: Awaited<ReturnType<typeof startGateway>> & { child: ChildProcess };

  beforeAll(async () => {
    const model = await modelEnv(join(ROOT, 'demo/model'), { task: 'text-generation' });
    server = await startServer({ ...model, CONCURRENCY: '2' });
    await server.ready();
    gateway = await startGateway([{ id: 'org/name', task: 'text-generation', addresses: [server.url] }]);
  });
  afterAll(async () => {
    gateway.child.kill();
    await Promise.all([once(gateway.child, 'exit'), server.stop()]);
  });

  const text = 'Once upon a time';
  const hosted = (path: string, body: object) => ({
    url: `${gateway.at}/${path}`,
    headers: gateway.headers,
    body,
  });
  const calls: Record<string, () => Call> = {
    'of a container': () => ({ url: `${server.url}/run`, body: { text, params } }),
    'of a gateway': () => hosted('org/name', { text, params }),
    "by OpenAI's interface": () =>
      hosted('openai/v1/completions', { model: 'org/name', prompt: text, ...endless, n: 16 }),
  };

  test.each(Object.keys(calls))('%s that is not streamed', async (name) => {
    const before = await atRest(server);
    const leaving = call(calls[name]!());
    await waitFor(async () => ((await server.status())['graph_runs'] as number) > before + 5);
    leaving.leave();
    const computed = (await atRest(server)) - before;
    await gateway.atRest();
    expect(computed).toBeLessThan(STEPS * 0.75);
  });

  const streams: Record<string, () => Call> = {
    'of a container': () => ({ url: `${server.url}/run`, body: { text, params: alone, stream: true } }),
    'of events': () => ({
      url: `${server.url}/run`,
      headers: { accept: 'text/event-stream' },
      body: { text, params: alone, stream: true },
    }),
    'of a gateway': () => hosted('org/name', { text, params: alone, stream: true }),
    "of OpenAI's interface": () =>
      hosted('openai/v1/completions', { model: 'org/name', prompt: text, ...endless, stream: true }),
  };

  test.each(Object.keys(streams))('%s that is streamed', async (name) => {
    const before = await atRest(server);
    const leaving = call(streams[name]!());
    await leaving.firstPiece();
    leaving.leave();
    const computed = (await atRest(server)) - before;
    await gateway.atRest();
    expect(computed).toBeLessThan(STEPS * 0.75);
  });

  test('that waits for a place is never begun', async () => {
    const before = await atRest(server);
    const first = [1, 2].map(() => call(calls['of a container']!()));
    await waitFor(async () => (await server.status())['running'] === 2);
    const waiting = Array.from({ length: 6 }, (_, i) => call(Object.values(calls)[i % 3]!()));
    await waitFor(async () => (await server.status())['queued'] === 6);
    for (const one of waiting) one.leave();
    await waitFor(async () => (await server.status())['queued'] === 0, 2000);
    for (const one of first) one.leave();
    expect((await atRest(server)) - before).toBeLessThan(STEPS * 0.75);
    await gateway.atRest();
  });
});

describe('rows of an encoder', () => {
  let server: ServerProcess;
  let gateway: Awaited<ReturnType<typeof startGateway>>;

  beforeAll(async () => {
    const repo = join(ROOT, 'test/fixtures/zoo/zero-shot-classification/distilbert-mnli/repo');
    const model = await modelEnv(repo, { task: 'zero-shot-classification' });
    server = await startServer({ ...model, WORKERS: '1', THREADS: '1' });
    await server.ready();
    const task = 'zero-shot-classification';
    gateway = await startGateway([{ id: 'org/name', task, addresses: [server.url] }]);
  });
  afterAll(async () => {
    gateway.child.kill();
    await Promise.all([once(gateway.child, 'exit'), server.stop()]);
  });

  /** Rows of different lengths, few of which fit into one run. */
  const body = (seed: number) => ({
    text: 'The train leaves. '.repeat(4),
    candidate_labels: Array.from(
      { length: 600 },
      (_, i) => `${'word '.repeat(1 + ((i * 7 + seed) % 9))}${i}`,
    ),
  });

  test.each(['a container', 'a gateway'])(
    'that wait are not computed once their callers have left %s',
    async (at) => {
      const target = (seed: number): Call =>
        at === 'a container'
          ? { url: `${server.url}/run`, body: body(seed) }
          : { url: `${gateway.at}/org/name`, headers: gateway.headers, body: body(seed) };
      const before = await atRest(server);
      const stays = await fetch(target(0).url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...target(0).headers },
        body: JSON.stringify(body(0)),
      });
      expect(stays.status).toBe(200);
      const whole = (await atRest(server)) - before;
      const leaving = [1, 2, 3, 4].map((seed) => call(target(seed)));
      await waitFor(async () => ((await server.status())['graph_runs'] as number) > before + whole);
      for (const one of leaving) one.leave();
      const computed = (await atRest(server)) - before - whole;
      await gateway.atRest();
      expect(computed).toBeLessThan(3 * whole);
    },
  );
});

describe('images', () => {
  let server: ServerProcess;

  beforeAll(async () => {
    const repo = join(ROOT, 'test/fixtures/zoo/image-classification/vit-tiny/repo');
    server = await startServer(await modelEnv(repo, { task: 'image-classification' }));
    await server.ready();
  });
  afterAll(() => server.stop());

  test('whose callers have left go no further than they are', async () => {
    const before = await atRest(server);
    // Quick to send and slow to decode.
    const create = { width: 7000, height: 7000, channels: 3 as const, background: '#246' };
    const image = await sharp({ create }).jpeg().toBuffer();
    const body = { base64: image.toString('base64') };
    const leaving = Array.from({ length: 8 }, () => call({ url: `${server.url}/run`, body }));
    await waitFor(async () => (await server.status())['running'] === 8);
    for (const one of leaving) one.leave();
    // Decoding can't be stopped; those that are through with it may be in their run.
    expect((await atRest(server, 30_000)) - before).toBeLessThan(6);
  });
});
