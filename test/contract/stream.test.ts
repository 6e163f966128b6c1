import { once } from 'node:events';
import { createServer, request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Delta } from '../../runtime/core/delta.js';
import { RunError } from '../../runtime/core/errors.js';
import type { ModelService } from '../../runtime/http/service.js';
import { fakeApp } from '../fakes/app.js';

describe('text streams', () => {
  let server: Server | undefined;
  afterEach(() => server?.closeAllConnections());
  afterEach(() => server?.close());

  async function listen(run: ModelService['run']): Promise<number> {
    server = createServer(fakeApp({ task: 'text-generation', run })).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  }

  async function post(port: number, body: object, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(`http://127.0.0.1:${port}/run`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  }

  test('plain text in pieces, no framing', async () => {
    const port = await listen(async (_input, { onDelta }) => {
      for (const piece of ['Once', ' upon', ' a time']) onDelta?.({ text: piece });
      return 'ignored: the stream has new text only';
    });
    const response = await post(port, { text: 'x', stream: true });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(response.headers.get('cache-control')).toBe('no-cache');
    expect(response.headers.get('x-accel-buffering')).toBe('no');
    expect(await response.text()).toBe('Once upon a time');
  });

  test('stream: false is a JSON answer', async () => {
    const port = await listen(async () => 'x and more');
    const response = await post(port, { text: 'x', stream: false });
    expect(await response.json()).toEqual({ error: null, output: 'x and more' });
  });

  test('what fails before the first piece is an ordinary error', async () => {
    const port = await listen(async () => {
      throw new RunError('unprocessable', 'too long');
    });
    const response = await post(port, { text: 'x', stream: true });
    expect([response.status, await response.json()]).toEqual([422, { error: 'too long', output: null }]);
  });

  test('what fails after the first piece cuts the connection', async () => {
    const port = await listen(async (_input, { onDelta }) => {
      onDelta?.({ text: 'Once' });
      await new Promise((resolve) => setTimeout(resolve, 50));
      throw new RunError('engine_crashed', 'gone');
    });
    const response = await post(port, { text: 'x', stream: true });
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow();
  });

  test('server-sent events where the client asks for them', async () => {
    const port = await listen(async (_input, { onDelta }) => {
      onDelta?.({ text: 'a\nb' });
      return 'x a\nb';
    });
    const response = await post(port, { text: 'x', stream: true }, { accept: 'text/event-stream' });
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(await response.text()).toBe(
      'data: {"text":"a\\nb"}\n\nevent: final\ndata: {"output":"x a\\nb"}\n\n',
    );
  });

  test('calls and reasoning are events; plain text is the content alone', async () => {
    const pieces: Delta[] = [
      { reasoning: 'hm' },
      { text: 'Wait.' },
      { call: { index: 0, id: 'call_1', name: 'f' } },
      { call: { index: 0, arguments: '{}' } },
    ];
    const port = await listen(async (_input, { onDelta, onUsage }) => {
      for (const piece of pieces) onDelta?.(piece);
      onUsage?.({ tokensIn: 3, tokensOut: 5, reasoningTokens: 1, finish: ['tool_calls'] });
      return null;
    });
    expect(await (await post(port, { text: 'x', stream: true })).text()).toBe('Wait.');
    const events = await post(port, { text: 'x', stream: true }, { accept: 'text/event-stream' });
    const usage = { tokens_in: 3, tokens_out: 5, reasoning_tokens: 1, finish_reason: 'tool_calls' };
    expect(await events.text()).toBe(
      [...pieces.map((piece) => `data: ${JSON.stringify(piece)}`), 'event: final'].join('\n\n') +
        `\ndata: ${JSON.stringify({ output: null, usage })}\n\n`,
    );
  });

  test.each([
    ['text/event-stream;q=0', 'text/plain; charset=utf-8'],
    ['*/*', 'text/plain; charset=utf-8'],
    ['text/plain, text/event-stream;q=0.5', 'text/plain; charset=utf-8'],
    ['application/json', 'text/plain; charset=utf-8'],
    ['text/event-stream, */*;q=0.1', 'text/event-stream; charset=utf-8'],
    ['application/json, text/event-stream', 'text/event-stream; charset=utf-8'],
  ])('Accept %s gives %s', async (accept, type) => {
    const port = await listen(async () => 'x');
    const response = await post(port, { text: 'x', stream: true }, { accept });
    expect(response.headers.get('content-type')).toBe(type);
  });

  test('the final event says what it came to, where the model counts', async () => {
    const port = await listen(async (_input, { onUsage }) => {
      onUsage?.({ tokensIn: 3, tokensOut: 2, finish: ['length'] });
      return 'x';
    });
    const response = await post(port, { text: 'x', stream: true }, { accept: 'text/event-stream' });
    const data = { output: 'x', usage: { tokens_in: 3, tokens_out: 2, finish_reason: 'length' } };
    expect(await response.text()).toBe(`event: final\ndata: ${JSON.stringify(data)}\n\n`);
  });

  test('a JSON answer says it in headers, and its body stays as it is', async () => {
    const port = await listen(async (_input, { onUsage }) => {
      onUsage?.({ tokensIn: 3, tokensOut: 5, finish: ['stop', 'length'] });
      return ['x', 'y'];
    });
    const response = await post(port, { text: 'x', params: { num_return_sequences: 2 } });
    const names = ['inference-tokens-in', 'inference-tokens-out', 'inference-finish-reason'];
    expect(names.map((name) => response.headers.get(name))).toEqual(['3', '5', 'stop, length']);
    expect(await response.text()).toBe('{"error":null,"output":["x","y"]}');
  });

  test('server-sent events end with the error that came late', async () => {
    const port = await listen(async (_input, { onDelta }) => {
      // More than a connection takes at once: the error waits behind it.
      onDelta?.({ text: 'x'.repeat(2 ** 24) });
      throw new RunError('engine_crashed', 'gone');
    });
    const response = await post(port, { text: 'x', stream: true }, { accept: 'text/event-stream' });
    const text = await response.text();
    // Not by a pattern: over so long a text its search may run out of stack.
    expect(text.slice(0, 16)).toBe('data: {"text":"x');
    expect(text.replaceAll('x', '')).toBe('data: {"tet":""}\n\nevent: error\ndata: {"error":"gone"}\n\n');
  });

  test('a client that leaves aborts the run', async () => {
    let aborted: (value: unknown) => void;
    const left = new Promise((resolve) => (aborted = resolve));
    const port = await listen(async (_input, { signal, onDelta }) => {
      onDelta?.({ text: 'Once' });
      signal.addEventListener('abort', () => aborted(signal.reason));
      return new Promise(() => {});
    });
    const call = httpRequest({ port, host: '127.0.0.1', path: '/run', method: 'POST' });
    call.setHeader('content-type', 'application/json').end('{"text":"x","stream":true}');
    const [response] = await once(call, 'response');
    await once(response, 'data');
    call.destroy();
    expect(await left).toMatchObject({ code: 'cancelled' });
  });
});
