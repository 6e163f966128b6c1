import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { httpTransport } from '../../builder/conformance/http-transport.js';
import { runChecks } from '../../builder/conformance/run-checks.js';
import type { Answer, Call, Transport } from '../../builder/conformance/transport.js';
import type { TaskId } from '../../runtime/core/task-ids.js';
import { openApiOf } from '../../runtime/boot/openapi.js';
import { VERSION } from '../../runtime/version.js';
import { fakeApp, type FakeAppOptions } from '../fakes/app.js';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function serving(
  task: TaskId,
  example: Record<string, unknown>,
  run: FakeAppOptions['run'],
): Promise<Transport> {
  const spec = { id: 'test/model', task, commit: '0'.repeat(40) } as const;
  const details = { ...{ model: spec.id, task, version: VERSION, engine_restarts: 0, example } };
  const app = fakeApp({
    task,
    run,
    status: () => ({ state: 'ready', details }),
    openapi: () => openApiOf(spec, VERSION),
  });
  const server = createServer(app).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return httpTransport(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
}

const chat = () =>
  serving(
    'chat',
    { messages: [{ role: 'user', content: 'Hi' }] },
    async (_input, { onDelta } = {} as never) => {
      for (const text of ['Good ', 'day']) onDelta?.({ text });
      return { role: 'assistant', content: 'Good day' };
    },
  );

const VECTOR = [0.25, -0.5, 1];
const vectors = () => serving('feature-extraction', { text: 'a' }, async () => VECTOR);

async function results(transport: Transport) {
  const { results: all } = await runChecks(transport, {
    ...{ headers: {}, only: ['dialects'], say: () => undefined },
  });
  return all;
}

/** What is no longer right when answers to some path are changed. */
async function failing(transport: Transport, path: string, change: (text: string) => string) {
  const faulty: Transport = {
    async send(call: Call): Promise<Answer> {
      const answer = await transport.send(call);
      if (call.path !== path) return answer;
      return { ...answer, bytes: Buffer.from(change(answer.bytes.toString('utf8'))) };
    },
  };
  return (await results(faulty)).filter(({ passed }) => !passed).map(({ check }) => check);
}

test('a chat says the same in every interface', async () => {
  const all = await results(await chat());
  expect(all.filter(({ passed }) => !passed)).toEqual([]);
  expect(Object.fromEntries(all.map(({ check, detail }) => [check, detail]))).toMatchObject({
    'OpenAI chat': 'the text of POST /run, 8 characters',
    'OpenAI stream': expect.stringContaining('[DONE]'),
    'OpenAI embeddings': 'no embeddings',
    'KServe health': 'ready',
  });
});

test('vectors are the same in every interface', async () => {
  const all = await results(await vectors());
  expect(all.filter(({ passed }) => !passed)).toEqual([]);
  expect(all.find(({ check }) => check === 'OpenAI embeddings')?.detail).toContain('3 numbers');
});

test.each([
  ['OpenAI chat', '/v1/chat/completions', (text: string) => text.replace('Good day', 'Bad day')],
  ['OpenAI stream', '/v1/chat/completions', (text: string) => text.replace('data: [DONE]', '')],
  ['OpenAI models', '/v1/models', (text: string) => text.replaceAll('test/model', 'other')],
  ['OpenAI errors', '/v1/chat/completions', (text: string) => text.replace('"message"', '"said"')],
  ['tools', '/mcp', (text: string) => text.replace('"tools"', '"tool"')],
] as const)('%s: another answer is noticed', async (name, path, change) => {
  expect(await failing(await chat(), path, change)).toContain(name);
});

test('OpenAI embeddings: another vector is noticed', async () => {
  const noticed = await failing(await vectors(), '/v1/embeddings', (text) => text.replace('0.25', '0.5'));
  expect(noticed).toEqual(['OpenAI embeddings']);
});
