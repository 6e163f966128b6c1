import { jest } from '@jest/globals';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { convertToGguf } from '../fakes/gguf/convert.js';
import { modelEnv, type ServerProcess, startServer, waitFor } from '../fakes/server.js';

jest.setTimeout(90_000);

const CHAT = join(import.meta.dirname, '../fixtures/zoo-weights/chat/qwen2-f16-2shards');

const started: ServerProcess[] = [];
afterEach(() => {
  for (const server of started.splice(0)) server.process.kill('SIGKILL');
});

/** A folder with the model in GGUF, and a server over it. */
async function serverOf(env: Record<string, string> = {}): Promise<ServerProcess> {
  const dir = await mkdtemp(join(tmpdir(), 'slipway-gguf-'));
  await writeFile(join(dir, 'model.gguf'), convertToGguf(join(CHAT, 'repo'), 'F32'));
  const spec = { task: 'chat', engine: 'llama', profile: 'llama', graphs: { model: 'model.gguf' } } as const;
  const server = await startServer({ ...(await modelEnv(dir, spec)), HF_HUB_OFFLINE: '1', ...env });
  started.push(server);
  return server;
}

const asked = { messages: [{ role: 'user', content: 'the quiet river' }], params: { max_new_tokens: 8 } };
/** Is not through before it is killed. */
const endless = { ...asked, params: { max_new_tokens: 400, ignore_eos: true, num_beams: 8 } };

test('chats are answered as the reference answers them, over HTTP and as a stream', async () => {
  const server = await serverOf();
  await server.ready();
  const cases = JSON.parse(await readFile(join(CHAT, 'cases.json'), 'utf8')) as {
    request: object;
    expect: object;
  }[];
  for (const { request, expect: wanted } of cases)
    expect(await (await server.run(request)).json()).toEqual({ error: null, output: wanted });
  const whole = (await (await server.run(asked)).json()) as { output: { content: string } };
  const stream = await (await server.run({ ...asked, stream: true })).text();
  expect(stream.length).toBeGreaterThan(0);
  const openai = await fetch(`${server.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'x', messages: asked.messages, max_tokens: 8 }),
  });
  const { choices } = (await openai.json()) as { choices: { message: { content: string } }[] };
  expect(choices[0]!.message.content).toBe(whole.output.content);
  expect(await server.status()).toMatchObject({
    engine: 'llama',
    device: { used: 'cpu', placement: { layers: 2, gpu_layers: 0 } },
  });
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  expect(metrics).toContain('slipway_layers{where="cpu"} 2');
});

test.each(['SIGKILL', 'SIGABRT'] as const)(
  'an engine that ends by %s is an error and is started again',
  async (signal) => {
    const server = await serverOf();
    await server.ready();
    const before = (await (await server.run(asked)).json()) as object;
    const running = Promise.all([server.run(endless), server.run(endless)]);
    await waitFor(async () => (await server.status())['running'] === 2);
    process.kill((await server.status())['engine_pid'] as number, signal);
    for (const answer of await running) {
      expect(answer.status).toBe(503);
      expect(await answer.json()).toEqual({ output: null, error: expect.stringMatching(/try again/) });
    }
    await server.ready();
    expect(await (await server.run(asked)).json()).toEqual(before);
    expect(await server.status()).toMatchObject({ engine_restarts: 1 });
  },
);

test('an engine that stands still is started again once its caller has gone', async () => {
  const server = await serverOf({ CANCEL_GRACE: '1' });
  await server.ready();
  const pid = (await server.status())['engine_pid'] as number;
  const gone = new AbortController();
  const { url } = server;
  const headers = { 'content-type': 'application/json' };
  const init = { method: 'POST', headers, body: JSON.stringify(endless), signal: gone.signal };
  const left = fetch(`${url}/run`, init).catch((error: unknown) => (error as Error).name);
  await waitFor(async () => (await server.status())['running'] === 1);
  process.kill(pid, 'SIGSTOP');
  gone.abort();
  expect(await left).toBe('AbortError');
  await waitFor(async () => (await server.status())['engine_restarts'] === 1);
  await server.ready();
  expect((await server.run(asked)).status).toBe(200);
});

test('who leaves frees the place at once', async () => {
  const server = await serverOf({ CONCURRENCY: '1' });
  await server.ready();
  const gone = new AbortController();
  const headers = { 'content-type': 'application/json' };
  const init = { method: 'POST', headers, body: JSON.stringify(endless), signal: gone.signal };
  const left = fetch(`${server.url}/run`, init).catch(() => 'gone');
  await waitFor(async () => (await server.status())['running'] === 1);
  gone.abort();
  expect(await left).toBe('gone');
  expect((await server.run(asked)).status).toBe(200);
  expect(await server.status()).toMatchObject({ engine_restarts: 0, running: 0 });
});

test('what can not fit is said, with numbers, and not tried', async () => {
  const server = await serverOf({ CONTEXT_LENGTH: '900000000000' });
  await waitFor(async () => (await server.status().catch(() => ({ state: '' })))['state'] === 'failed');
  expect((await server.status())['reason']).toMatch(
    /takes \d+ MB with CONTEXT_LENGTH 900000000000, and \d+ MB of/,
  );
});

test('a GPU that is not there is refused where one is asked for', async () => {
  const server = await serverOf({ DEVICE: 'cuda' });
  expect(await server.exited).not.toBe(0);
  expect(server.output()).toContain('llama.cpp has no library for GPUs here');
});
