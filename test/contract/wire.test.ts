import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { ModelService } from '../../runtime/http/service.js';
import { createHttpServer, type ServerTimes } from '../../runtime/wire/server.js';
import { fakeApp } from '../fakes/app.js';

/** What comes back for bytes that no HTTP library would send. */

let server: Server;
afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

async function listen(
  run: ModelService['run'] = async () => [],
  times?: Partial<ServerTimes>,
): Promise<number> {
  server = createHttpServer(fakeApp({ task: 'text-generation', run }), times).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** Sends bytes and collects what comes until the server closes the connection. */
async function exchange(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let answer = '';
  socket.on('data', (chunk) => (answer += chunk.toString()));
  socket.write(bytes);
  await once(socket, 'close');
  return answer;
}

const JSON_HEAD = 'Host: x\r\nContent-Type: application/json\r\nConnection: close\r\n';

test.each([
  ['no HTTP at all', 'hello\r\n\r\n', 400, /not valid HTTP/],
  ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400, /not valid HTTP/],
  ['an unknown method', 'FOO /run HTTP/1.1\r\nHost: x\r\n\r\n', 400, /not valid HTTP/],
  [
    'a negative length',
    `POST /run HTTP/1.1\r\n${JSON_HEAD}Content-Length: -1\r\n\r\n`,
    400,
    /not valid HTTP/,
  ],
  [
    'two lengths',
    `POST /run HTTP/1.1\r\n${JSON_HEAD}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    400,
    /not valid HTTP/,
  ],
  [
    'a broken chunk',
    `POST /run HTTP/1.1\r\n${JSON_HEAD}Transfer-Encoding: chunked\r\n\r\nZZ\r\n`,
    400,
    /not valid HTTP/,
  ],
  ['a long header', `GET /livez HTTP/1.1\r\nA: ${'a'.repeat(20_000)}\r\n\r\n`, 431, /longer than 16384/],
  ['a long address', `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 431, /longer than 16384/],
  ['a tunnel', 'CONNECT a:80 HTTP/1.1\r\nHost: x\r\n\r\n', 405, /CONNECT is not allowed/],
  ['an address without a path', `GET http://[::1 HTTP/1.1\r\n${JSON_HEAD}\r\n`, 400, /address .* not valid/],
] as const)('%s is answered in the envelope', async (_name, bytes, status, message) => {
  const answer = await exchange(await listen(), bytes);
  expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} [A-Z]`));
  expect(answer).toMatch(/\r\nContent-Type: application\/json; charset=utf-8\r\n/i);
  const [, body] = answer.split('\r\n\r\n');
  expect(JSON.parse(body!)).toEqual({ error: expect.stringMatching(message), output: null });
});

test.each([
  ['no Host', 'GET /livez HTTP/1.1\r\nConnection: close\r\n\r\n'],
  [
    'an expectation that nobody knows',
    `POST /run HTTP/1.1\r\n${JSON_HEAD}Expect: x\r\nContent-Length: 12\r\n\r\n{"text":"x"}`,
  ],
  ['a wish to upgrade', 'GET /livez HTTP/1.1\r\nConnection: upgrade, close\r\nUpgrade: h2c\r\n\r\n'],
])('%s is no obstacle', async (_name, bytes) => {
  expect(await exchange(await listen(), bytes)).toMatch(/^HTTP\/1\.1 200 OK/);
});

test('headers that do not come to an end are a 408', async () => {
  const answer = await exchange(await listen(undefined, { headersMs: 20 }), 'GET /livez HTTP/1.1\r\nA: ');
  expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  expect(answer).toMatch(/\{"error":"the request took too long to arrive","output":null\}$/);
});

test('a body that does not come to an end is a 408; an answer may take longer', async () => {
  const times = { headersMs: 20, requestMs: 20 };
  const slow = async () => new Promise((resolve) => setTimeout(resolve, 100, 'done'));
  const port = await listen(slow, times);
  const head = `POST /run HTTP/1.1\r\n${JSON_HEAD}Content-Length: 12\r\n\r\n`;
  expect(await exchange(port, `${head}{"te`)).toMatch(/^HTTP\/1\.1 408 /);
  expect(await exchange(port, `${head}{"text":"x"}`)).toMatch(/"output":"done"/);
});

test('broken HTTP behind the start of an answer does not get into it', async () => {
  const port = await listen(async (_input, { onDelta, signal }) => {
    onDelta?.({ text: 'piece' });
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
  });
  const body = '{"text":"x","stream":true}';
  const head = `POST /run HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
  const socket = connect(port, '127.0.0.1');
  let answer = '';
  socket.on('data', (chunk) => {
    answer += chunk.toString();
    if (answer.includes('piece')) socket.write('garbage\r\n\r\n');
  });
  socket.on('error', () => {});
  socket.write(head + body);
  await once(socket, 'close');
  expect(answer).toMatch(/piece/);
  expect(answer).not.toMatch(/not valid HTTP/);
});

test('a client that stops reading is cut off', async () => {
  let left: (value: unknown) => void;
  const gone = new Promise((resolve) => (left = resolve));
  const run: ModelService['run'] = async (_input, { signal, onDelta }) => {
    signal.addEventListener('abort', () => left(signal.reason));
    onDelta?.({ text: 'x'.repeat(2 ** 25) });
    return new Promise(() => {});
  };
  const port = await listen(run, { stallMs: 50 });
  const body = '{"text":"x","stream":true}';
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.pause();
  socket.write(`POST /run HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  expect(await gone).toMatchObject({ code: 'cancelled' });
  socket.destroy();
});

test('a client that reads waits as long as the model takes', async () => {
  const run = async () => new Promise((resolve) => setTimeout(resolve, 150, 'done'));
  const port = await listen(run, { stallMs: 20 });
  const bytes = `POST /run HTTP/1.1\r\n${JSON_HEAD}Content-Length: 12\r\n\r\n{"text":"x"}`;
  expect(await exchange(port, bytes)).toMatch(/"output":"done"/);
});

test('a length that is announced but never comes keeps nobody else out', async () => {
  const app = fakeApp({
    task: 'text-generation',
    run: async () => 'done',
    maxPendingBytes: 100,
    maxBodyBytes: 1000,
  });
  server = createHttpServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const idle = connect(port, '127.0.0.1');
  idle.on('error', () => {});
  idle.write(`POST /run HTTP/1.1\r\n${JSON_HEAD}Content-Length: 1000\r\n\r\n{"text":"`);
  const bytes = `POST /run HTTP/1.1\r\n${JSON_HEAD}Content-Length: 12\r\n\r\n{"text":"x"}`;
  expect(await exchange(port, bytes)).toMatch(/"output":"done"/);
  idle.destroy();
});

test('a connection serves on after a body that was too large', async () => {
  const app = fakeApp({ task: 'text-generation', run: async () => 'done', maxBodyBytes: 100 });
  server = createHttpServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const large = 'x'.repeat(300_000);
  const first = `POST /run HTTP/1.1\r\nHost: x\r\nContent-Length: ${large.length}\r\n\r\n${large}`;
  const second = `POST /run HTTP/1.1\r\n${JSON_HEAD}Content-Length: 12\r\n\r\n{"text":"x"}`;
  const answer = await exchange((server.address() as AddressInfo).port, first + second);
  expect(answer).toMatch(/^HTTP\/1\.1 413 [^]*HTTP\/1\.1 200 [^]*"output":"done"/);
});

test('a body in pieces of one byte is refused before there are millions of them', async () => {
  const port = await listen();
  const head = `POST /run HTTP/1.1\r\n${JSON_HEAD}Transfer-Encoding: chunked\r\n\r\n`;
  const open = head.replace('Connection: close\r\n', '');
  const answer = await exchange(port, `${open}c\r\n{"text":"xy"\r\n${'1\r\n \r\n'.repeat(200_000)}`);
  expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  expect(answer).toMatch(/more than 5000 pieces of less than 64 bytes; send larger ones/);
});

test('a client that sends many requests ahead of their answers is cut off', async () => {
  const port = await listen(() => new Promise(() => {}));
  const body = '{"text":"x"}';
  const first = `POST /run HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  expect(await exchange(port, first + 'GET /livez HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(65))).toBe('');
});
