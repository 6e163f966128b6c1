import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { routeKey } from '../../builder/conformance/checks/dialects.js';
import { RECIPES } from '../../builder/conformance/dialects/recipes.js';
import { DIALECTS } from '../../runtime/dialects/registry.js';
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
const vectors = () =>
  serving('feature-extraction', { text: 'a' }, async (input) => {
    const { normalize } = (input as unknown as { params: { normalize?: boolean } }).params;
    return normalize ? VECTOR.map((value) => value / Math.hypot(...VECTOR)) : VECTOR;
  });

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

const CHAT = 'openai POST /v1/chat/completions';

test.each([
  ['chats', chat, CHAT, 'as POST /run: "Good day"'],
  ['chats', chat, 'anthropic POST /v1/messages', 'as POST /run: "Good day"'],
  ['chats', chat, 'mcp POST /mcp', 'as POST /run: "chat"'],
  ['vectors', vectors, 'openai POST /v1/embeddings', '3 numbers, as POST /run gives them'],
  ['vectors', vectors, 'tei POST /embed', '3 numbers, as POST /run gives them, of length 1'],
])('%s: what a check has seen', async (_, served, name, detail) => {
  const found = (await results(await served())).find(({ check }) => check === name);
  expect(found).toMatchObject({ passed: true, detail });
});

test('routes of other tasks are not asked', async () => {
  const names = (await results(await vectors())).map(({ check }) => check);
  expect(names).toContain('openai GET /v1/models');
  expect(names).not.toContain(CHAT);
});

const KEPT = (text: string) => text;

test.each([
  [CHAT, '/v1/chat/completions', (text: string) => text.replace('Good day', 'Bad day')],
  [CHAT, '/v1/chat/completions', (text: string) => text.replace('data: [DONE]', '')],
  [CHAT, '/v1/chat/completions', (text: string) => text.replace('"content":"day"', '"content":"night"')],
  ['openai GET /v1/models', '/v1/models', (text: string) => text.replaceAll('test/model', 'other')],
  ['openai errors', '/v1/chat/completions', (text: string) => text.replace('"message"', '"said"')],
  ['anthropic POST /v1/messages', '/v1/messages', (text: string) => text.replace('day', 'night')],
  ['ollama POST /api/chat', '/api/chat', (text: string) => text.replaceAll('"done":true', '"done":false')],
  ['oip GET /v2/health/live', '/v2/health/live', (text: string) => text.replace('true', 'false')],
  ['mcp POST /mcp', '/mcp', (text: string) => text.replaceAll('"tools"', '"tool"')],
] as const)('%s: another answer is noticed', async (name, path, change) => {
  expect(await failing(await chat(), path, KEPT)).not.toContain(name);
  expect(await failing(await chat(), path, change)).toContain(name);
});

test.each([
  ['openai POST /v1/embeddings', '/v1/embeddings'],
  ['rerank POST /v2/embed', '/v2/embed'],
  ['infinity POST /infinity/embeddings', '/infinity/embeddings'],
])('%s: another vector is noticed', async (name, path) => {
  const model = await vectors();
  expect(await failing(model, path, KEPT)).not.toContain(name);
  expect(await failing(model, path, (text) => text.replace('0.25', '0.5'))).toContain(name);
});

test('every route of every dialect has a check', () => {
  const routes = DIALECTS.flatMap((dialect) => dialect.routes.map(routeKey));
  expect(Object.keys(RECIPES).sort()).toEqual([...new Set(routes)].sort());
});
