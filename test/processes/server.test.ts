import { jest } from '@jest/globals';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { modelEnv, ROOT, type ServerProcess, startServer, waitFor } from '../fakes/server.js';

/** The bundled server as a process of its own, with its engine in another. */

const ZOO = join(ROOT, 'test/fixtures/zoo');
const CLASSIFIER = join(ZOO, 'text-classification/distilbert/repo');
const DEMO = join(ROOT, 'demo/model');

jest.setTimeout(60_000);

describe('settings that are wrong end the server with one line', () => {
  test.each([
    [{ KEY: '' }, /^slipway: KEY is not set.*KEY_FILE/],
    [{ KEY: '', KEY_FILE: '/nowhere/key' }, /^slipway: KEY_FILE names a file that can't be read \(ENOENT\)/],
    [{ PORT: '0' }, /^slipway: PORT must be from 1 to 65535/],
    [{ PORT: '65536' }, /^slipway: PORT must be from 1 to 65535/],
    [{ PORT: 'http' }, /^slipway: PORT must be a whole number/],
    [{ DEVICE: 'tpu' }, /^slipway: DEVICE must be auto, cuda or cpu/],
    [{ DEVICE: 'cuda' }, /^slipway: DEVICE is cuda, but no GPU can be used: /],
    [{ CHECK_WEIGHTS: 'never' }, /^slipway: CHECK_WEIGHTS must be auto, first or background/],
    [{ MAX_QUEUE: '-1' }, /^slipway: MAX_QUEUE must be a whole number/],
    [{ HF_ENDPOINT: 'ftp://x' }, /^slipway: HF_ENDPOINT must be an http\(s\) address/],
    [{ ALLOW_PRIVATE_URLS: 'media.lan:8080' }, /^slipway: ALLOW_PRIVATE_URLS takes host names, addresses/],
    [{ ALLOW_PRIVATE_URLS: '10.0.0.0/99' }, /^slipway: ALLOW_PRIVATE_URLS takes host names, addresses/],
    [{ REQUEST_TIMEOUT: '9999999' }, /^slipway: REQUEST_TIMEOUT must be at most 2147483/],
  ])('%j', async (env, message) => {
    const server = await startServer({
      ...(await modelEnv(CLASSIFIER, { task: 'text-classification' })),
      ...env,
    });
    expect(await server.exited).toBe(2);
    expect(server.output()).toMatch(message);
    expect(server.output().trimEnd().split('\n')).toHaveLength(1);
  });

  test('a port that is taken', async () => {
    const env = await modelEnv(CLASSIFIER, { task: 'text-classification' });
    const first = await startServer(env);
    await first.ready();
    const second = await startServer({ ...env, PORT: new URL(first.url).port });
    expect(await second.exited).toBe(2);
    expect(second.output()).toMatch(/PORT \d+ is taken/);
    await first.stop();
  });
});

describe('a model that cannot be had', () => {
  test('weights that are missing: the reason without a path, and with it in the log', async () => {
    const env = await modelEnv(CLASSIFIER, { task: 'text-classification' });
    const empty = await mkdtemp(join(tmpdir(), 'slipway-empty-'));
    const server = await startServer({ ...env, MODEL_DIR: empty, HF_HUB_OFFLINE: '1' });
    await waitFor(() => server.output().includes('not loaded'));
    const health = await fetch(`${server.url}/health`);
    const reason =
      'the weights are not complete and HF_HUB_OFFLINE is set; put them into MODEL_DIR/test/model/';
    expect(await health.json()).toEqual({ error: expect.stringContaining(reason), output: null });
    const run = await server.run({ text: 'x' });
    expect([run.status, await run.json()]).toEqual([
      503,
      { error: expect.stringContaining(reason), output: null },
    ]);
    expect(server.output()).toContain(`put them into ${empty}/test/model/`);
    await server.stop();
  });

  test('a hub that is away: the reason without its address', async () => {
    const env = await modelEnv(CLASSIFIER, { task: 'text-classification' });
    const empty = await mkdtemp(join(tmpdir(), 'slipway-empty-'));
    const hub = createServer((_request, response) => response.writeHead(404).end()).listen(0, '127.0.0.1');
    await once(hub, 'listening');
    const { port } = hub.address() as AddressInfo;
    const endpoint = `http://127.0.0.1:${port}/secret-mirror`;
    const server = await startServer({ ...env, MODEL_DIR: empty, HF_ENDPOINT: endpoint });
    await waitFor(() => server.output().includes('not loaded'));
    const answers = await Promise.all(['health', 'status'].map((path) => fetch(`${server.url}/${path}`)));
    for (const answer of answers) expect(await answer.text()).not.toMatch(/secret-mirror|slipway-empty/);
    expect(server.output()).toContain('secret-mirror');
    await server.stop();
    hub.close();
  });

  test('a graph that is none: a reason for callers, the details in the log', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'slipway-broken-'));
    await cp(CLASSIFIER, dir, { recursive: true });
    await writeFile(join(dir, 'onnx/model.onnx'), 'not a graph');
    const server = await startServer(await modelEnv(dir, { task: 'text-classification' }));
    await waitFor(() => server.output().includes('not loaded'));
    const health = await fetch(`${server.url}/health`);
    expect(await health.json()).toEqual({ error: "failed: the model can't be opened", output: null });
    expect(server.output()).toMatch(/"detail":"[^"]*protobuf/i);
    await server.stop();
  });
});

describe('a classifier', () => {
  let server: ServerProcess;
  beforeAll(async () => {
    const env = await modelEnv(CLASSIFIER, { task: 'text-classification' });
    server = await startServer({
      ...env,
      KEY: 'secret-key-value',
      HF_TOKEN: 'secret-token-value',
      HUGGING_FACE_HUB_TOKEN: 'secret-token-value',
      ORT_DISABLE_TELEMETRY: '0',
      DEVICE: 'auto',
    });
    await server.ready();
  });
  afterAll(() => server.stop());

  test('answers, and says on what', async () => {
    const response = await server.run({ text: 'My phone is dead.', params: { top_k: 2 } });
    expect(await response.json()).toEqual({ error: null, output: [expect.anything(), expect.anything()] });
    const status = await server.status();
    expect(status).toMatchObject({
      state: 'ready',
      model: 'test/model',
      task: 'text-classification',
      offline: true,
      sealed: false,
      example: { text: expect.any(String) },
    });
    expect(status['device']).toMatchObject({
      asked: 'auto',
      used: 'cpu',
      reason: expect.stringMatching(/CUDA/),
    });
  });

  test('tells how many rows its runs had', async () => {
    // Its own example at the start was the first run. The engine reports its runs from time to time.
    const line = /^slipway_batch_rows_count\{task="text-classification"\} [1-9]\d*$/m;
    await waitFor(async () => line.test(await (await fetch(`${server.url}/metrics`)).text()));
  });

  test('describes itself', async () => {
    const document = (await (await fetch(`${server.url}/openapi.json`)).json()) as Record<string, never>;
    expect(document).toMatchObject({ openapi: '3.1.0', info: { title: 'test/model' } });
  });

  test('neither KEY nor token reaches a log, an answer or the engine', async () => {
    const { engine_pid } = await server.status();
    const environment = await readFile(`/proc/${String(engine_pid)}/environ`, 'utf8');
    const answers = await Promise.all(
      ['/status', '/metrics', '/openapi.json'].map(async (path) => (await fetch(server.url + path)).text()),
    );
    for (const text of [environment, server.output(), ...answers]) {
      expect(text).not.toContain('secret-key-value');
      expect(text).not.toContain('secret-token-value');
    }
  });

  test("ONNX Runtime's own telemetry is off, whatever the environment says", async () => {
    const { engine_pid } = await server.status();
    const environment = await readFile(`/proc/${String(engine_pid)}/environ`, 'utf8');
    expect(environment.split('\0')).toContain('ORT_DISABLE_TELEMETRY=1');
    expect(server.output()).not.toMatch(/telemetry/i);
  });

  test('hostile requests leave it up', async () => {
    const bodies = [
      '{"text":',
      '[]',
      '{"text":{}}',
      '{"text":"\\ud800"}',
      '{"text":""}',
      `{"text":"${'a'.repeat(1e6)}"}`,
    ];
    for (const body of bodies) {
      const response = await fetch(`${server.url}/run`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      });
      expect([200, 400, 422]).toContain(response.status);
      expect(await response.json()).toHaveProperty('error');
    }
    expect((await server.run({ text: 'still here' })).status).toBe(200);
    expect((await server.status())['engine_restarts']).toBe(0);
  });
});

describe('a text generator', () => {
  let server: ServerProcess;
  const long = { text: 'Once upon a time', params: { max_new_tokens: 250, min_new_tokens: 250 } };

  beforeAll(async () => {
    server = await startServer({ ...(await modelEnv(DEMO, { task: 'text-generation' })), CONCURRENCY: '2' });
    await server.ready();
  });
  afterAll(() => server.stop());

  test('an answer follows a grammar, which the bundle has beside itself', async () => {
    const { output } = (await (
      await server.run({ text: 'Once', params: { choices: ['a ship', 'a boat'], return_full_text: false } })
    ).json()) as { output: string };
    expect(['a ship', 'a boat']).toContain(output);
  });

  test('the pieces of a stream add up to the answer', async () => {
    // Long enough that a busy machine, which reads several pieces at once, still sees some.
    const body = long;
    const plain = (await (await server.run(body)).json()) as { output: string };
    const response = await server.run({ ...body, stream: true });
    const pieces: string[] = [];
    for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) pieces.push(piece);
    expect(pieces.length).toBeGreaterThan(3);
    expect(body.text + pieces.join('')).toBe(plain.output);
  });

  test('/livez and /health answer at once while it computes', async () => {
    const params = { max_new_tokens: 120, min_new_tokens: 120, num_beams: 8 };
    const busy = [1, 2].map(() => server.run({ ...long, params }));
    let finished = 0;
    for (const answer of busy) void answer.then(() => finished++);
    for (const route of Array.from({ length: 20 }, () => ['livez', 'health']).flat()) {
      expect((await fetch(`${server.url}/${route}`)).status).toBe(200);
    }
    // Forty answers one after the other, and the work is still going on.
    expect(finished).toBe(0);
    expect((await Promise.all(busy)).map(({ status }) => status)).toEqual([200, 200]);
  });

  test('a client that leaves frees its place', async () => {
    const call = httpRequest(`${server.url}/run`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
    });
    call.end(JSON.stringify({ ...long, stream: true }));
    const [response] = await once(call, 'response');
    await once(response, 'data');
    expect((await server.status())['running']).toBe(1);
    call.destroy();
    await waitFor(async () => (await server.status())['running'] === 0, 2000);
  });

  test('kill -9 of the engine: that caller gets a 503, the next request works', async () => {
    const before = await server.status();
    const running = server.run({ ...long, params: { ...long.params, num_beams: 8 } });
    await waitFor(async () => (await server.status())['running'] === 1);
    process.kill(before['engine_pid'] as number, 'SIGKILL');
    const response = await running;
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('1');
    expect(await response.json()).toEqual({
      error: expect.stringMatching(/SIGKILL; try again/),
      output: null,
    });
    expect((await server.run({ text: 'The sea', params: { max_new_tokens: 5 } })).status).toBe(200);
    const after = await server.status();
    expect(after['engine_restarts']).toBe(1);
    expect(after['engine_pid']).not.toBe(before['engine_pid']);
  });

  test('too long a prompt is a 422 that says by how much', async () => {
    const response = await server.run({ text: 'boat '.repeat(400) });
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({
      error: expect.stringMatching(/\d+ too many: this model takes 256/),
    });
  });
});

describe('stopping', () => {
  test('SIGTERM: what is under way finishes, then exit code 0', async () => {
    const server = await startServer(await modelEnv(DEMO, { task: 'text-generation' }));
    await server.ready();
    const running = server.run({ text: 'Once', params: { max_new_tokens: 200, min_new_tokens: 200 } });
    await waitFor(async () => (await server.status())['running'] === 1);
    server.process.kill('SIGTERM');
    expect((await running).status).toBe(200);
    expect(await server.exited).toBe(0);
  });

  test('SIGTERM while it loads ends it at once', async () => {
    const server = await startServer(await modelEnv(CLASSIFIER, { task: 'text-classification' }));
    await waitFor(async () => (await fetch(`${server.url}/livez`).catch(() => undefined))?.status === 200);
    expect(await server.stop()).toBe(0);
  });

  test('a second SIGINT does not wait', async () => {
    const server = await startServer(await modelEnv(DEMO, { task: 'text-generation' }));
    await server.ready();
    const running = server.run({
      text: 'Once',
      params: { max_new_tokens: 200, min_new_tokens: 200, num_beams: 8 },
    });
    running.catch(() => {});
    await waitFor(async () => (await server.status())['running'] === 1);
    server.process.kill('SIGINT');
    await waitFor(() => server.output().includes('SIGINT'));
    server.process.kill('SIGINT');
    expect(await server.exited).toBe(1);
  });
});
