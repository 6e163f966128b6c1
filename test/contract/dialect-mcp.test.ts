import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { RunError } from '../../runtime/core/errors.js';
import { TASK_IDS, type TaskId } from '../../runtime/core/task-ids.js';
import type { ModelService } from '../../runtime/http/service.js';
import { taskOf } from '../../runtime/tasks/registry.js';
import { mounted, MOUNTS } from '../fakes/dialects.js';
import { closeServers, gateway, secret } from '../fakes/gateway.js';

afterEach(closeServers);

const headers = { authorization: secret, 'content-type': 'application/json' };

/** The published client, connected. */
async function client(base: string): Promise<Client> {
  const made = new Client({ name: 'test', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL(`${base}/mcp`), { requestInit: { headers } });
  await made.connect(transport);
  return made;
}

async function post(base: string, body: unknown, more: Record<string, string> = {}) {
  const answer = await fetch(`${base}/mcp`, {
    method: 'POST',
    headers: { ...headers, ...more },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await answer.text();
  return {
    status: answer.status,
    content: text === '' ? null : (JSON.parse(text) as Record<string, unknown>),
  };
}

describe.each(MOUNTS)('Model Context Protocol, %s', (mount) => {
  const model = (task: TaskId, run: ModelService['run'] = async () => 'answer') =>
    mounted(mount, { task, run });

  test('the published client finds the model as a tool and calls it', async () => {
    const seen: unknown[] = [];
    const base = await model('text-classification', async (input) => {
      seen.push(input);
      return [{ label: 'good', score: 0.5 }];
    });
    const connected = await client(base);
    const { tools } = await connected.listTools();
    expect(tools).toMatchObject([
      {
        name: 'text-classification',
        inputSchema: { type: 'object', required: ['text'], properties: { text: {}, params: {} } },
        outputSchema: { type: 'object', required: ['output'] },
      },
    ]);
    const result = await connected.callTool({
      ...{ name: 'text-classification', arguments: { text: 'a', params: { top_k: 1 } } },
    });
    expect(result).toEqual({
      content: [{ type: 'text', text: '[{"label":"good","score":0.5}]' }],
      structuredContent: { output: [{ label: 'good', score: 0.5 }] },
    });
    expect(seen).toMatchObject([{ text: 'a', params: { top_k: 1 } }]);
    await connected.close();
  });

  test('what the model refuses is a result that says so, before anything runs', async () => {
    let runs = 0;
    const connected = await client(await model('text-classification', async () => ++runs));
    const call = (given: Record<string, unknown>) =>
      connected.callTool({ name: 'text-classification', arguments: given });
    expect(await call({})).toEqual({
      isError: true,
      content: [{ type: 'text', text: expect.stringMatching(/^text: /) }],
    });
    expect(await call({ text: 'x', params: { nonsense: 1 } })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/nonsense/) }],
    });
    expect(await call({ text: 'x', stream: true })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/^stream: /) }],
    });
    expect(runs).toBe(0);
    await connected.close();
  });

  test('what the model fails at is a result that says so', async () => {
    const base = await model('summarization', async () => {
      throw new RunError('unprocessable', 'the text is too long');
    });
    const connected = await client(base);
    expect(await connected.callTool({ name: 'summarization', arguments: { text: 'x' } })).toEqual({
      isError: true,
      content: [{ type: 'text', text: 'the text is too long' }],
    });
    await connected.close();
  });

  test('texts are text, messages their content', async () => {
    const base = await model('chat', async () => ({ role: 'assistant', content: 'hello' }));
    const connected = await client(base);
    const given = { messages: [{ role: 'user', content: 'hi' }] };
    expect(await connected.callTool({ name: 'chat', arguments: given })).toMatchObject({
      content: [{ type: 'text', text: 'hello' }],
    });
    await connected.close();
  });

  test.each([
    ['text-to-image', 'image/png', { type: 'image', mimeType: 'image/png', data: 'AQI=' }],
    ['text-to-speech', 'audio/wav', { type: 'audio', mimeType: 'audio/wav', data: 'AQI=' }],
    [
      'text-to-video',
      'video/mp4',
      { type: 'resource', resource: { uri: 'slipway:answer', mimeType: 'video/mp4', blob: 'AQI=' } },
    ],
  ] as const)('%s gives its medium', async (task, mediaType, content) => {
    const base = await model(task, async () => ({ mediaType, media: Uint8Array.of(1, 2) }));
    const connected = await client(base);
    expect(await connected.callTool({ name: task, arguments: { text: 'a' } })).toEqual({
      content: [content],
    });
    await connected.close();
  });

  test('ping is answered, notifications are taken, other methods are refused', async () => {
    const base = await model('text-classification');
    expect(await post(base, { jsonrpc: '2.0', id: 'a', method: 'ping' })).toEqual({
      status: 200,
      content: { jsonrpc: '2.0', id: 'a', result: {} },
    });
    expect(await post(base, { jsonrpc: '2.0', method: 'notifications/initialized' })).toEqual({
      status: 202,
      content: null,
    });
    expect(await post(base, { jsonrpc: '2.0', id: 1, method: 'resources/list' })).toMatchObject({
      status: 200,
      content: { id: 1, error: { code: -32601 } },
    });
    const unknown = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'nothing' } };
    expect(await post(base, unknown)).toMatchObject({
      status: 200,
      content: { id: 1, error: { code: -32602, message: 'name: there is no tool "nothing"' } },
    });
  });

  test.each(['{', '[]', '{}', '1', '{"jsonrpc":"1.0","id":1,"method":"ping"}', '{"jsonrpc":"2.0","id":{}}'])(
    '%s is no message',
    async (body) => {
      const { status, content } = await post(await model('text-classification'), body);
      expect({ status, content }).toMatchObject({
        status: 400,
        content: { jsonrpc: '2.0', id: null, error: { code: -32600 } },
      });
    },
  );

  test('the version is agreed on, and another one later is refused', async () => {
    const base = await model('text-classification');
    const initialize = (protocolVersion: string) =>
      post(base, { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion } });
    expect(await initialize('2025-03-26')).toMatchObject({
      content: { result: { protocolVersion: '2025-03-26' } },
    });
    expect(await initialize('1999-01-01')).toMatchObject({
      content: { result: { protocolVersion: '2025-11-25' } },
    });
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    expect((await post(base, ping, { 'mcp-protocol-version': '2025-06-18' })).status).toBe(200);
    expect((await post(base, ping, { 'mcp-protocol-version': '1999-01-01' })).status).toBe(400);
  });

  test('a page of another origin is refused, the server’s own is not', async () => {
    const base = await model('text-classification');
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    expect((await post(base, ping, { origin: 'http://elsewhere.example' })).status).toBe(403);
    expect((await post(base, ping, { origin: 'null' })).status).toBe(403);
    expect((await post(base, ping, { origin: new URL(base).origin })).status).toBe(200);
  });

  test('there is no stream to open and no session to end', async () => {
    const base = await model('text-classification');
    for (const method of ['GET', 'DELETE'])
      expect((await fetch(`${base}/mcp`, { method, headers })).status).toBe(405);
  });
});

test('a gateway’s models are tools by their names, which are unique and plain', async () => {
  const long = `org/${'x'.repeat(80)}`;
  const models = ['org/a.b', 'org/a_b', 'one/b', long].map((modelId) => ({ modelId, task: 'chat' as const }));
  const base = (await gateway({ models })).slice(0, -'/models/v2'.length);
  const connected = await client(base);
  const { tools } = await connected.listTools();
  const names = tools.map(({ name }) => name);
  expect(new Set(names).size).toBe(4);
  expect(names.filter((name) => !/^[\w-]{1,64}$/.test(name))).toEqual([]);
  expect(names).toContain('one__b');
  await connected.close();
});

test.each(TASK_IDS)('%s: the example is what its tool’s schema takes', async (task) => {
  const base = await mounted('container', { task, run: async () => null });
  const { content } = await post(base, { jsonrpc: '2.0', id: 1, method: 'tools/list' });
  const [tool] = (content!['result'] as { tools: [{ name: string; inputSchema: object }] }).tools;
  const { Ajv2020 } = await import('ajv/dist/2020.js');
  const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(tool.inputSchema);
  expect([validate(taskOf(task).example), validate.errors]).toEqual([true, null]);
  expect(Object.keys(tool.inputSchema)).not.toContain('anyOf');
});

test('without a key there is no answer, in the shape of the protocol', async () => {
  const base = await mounted('gateway', { task: 'chat' });
  const answer = await fetch(`${base}/mcp`, {
    ...{ method: 'POST', headers: { 'content-type': 'application/json' } },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  });
  expect([answer.status, await answer.json()]).toEqual([
    401,
    { jsonrpc: '2.0', id: null, error: { code: expect.any(Number), message: expect.any(String) } },
  ]);
});
