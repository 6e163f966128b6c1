import { once } from 'node:events';
import { Agent, request, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { followConnections } from '../../../runtime/wire/connections.js';
import { createHttpServer } from '../../../runtime/wire/server.js';

const opened: (() => void)[] = [];
afterEach(() => opened.splice(0).forEach((close) => close()));

async function serve(app: RequestListener) {
  const server = createHttpServer(app);
  const connections = followConnections(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  opened.push(() => (server.closeAllConnections(), server.close()));
  return { connections, port: (server.address() as AddressInfo).port };
}

function get(port: number, agent: Agent): Promise<{ connection: string | undefined; reused: boolean }> {
  return new Promise((resolve, reject) => {
    const asked = request({ port, host: '127.0.0.1', agent }, (response) => {
      const { connection } = response.headers;
      response.resume().once('end', () => resolve({ connection, reused: asked.reusedSocket }));
    });
    asked.once('error', reject).end();
  });
}

test('an idle connection takes one more request, whose answer says that it ends', async () => {
  const { connections, port } = await serve((_request, response) => response.end('fine'));
  const agent = new Agent({ keepAlive: true });
  opened.push(() => agent.destroy());
  expect(await get(port, agent)).toEqual({ connection: 'keep-alive', reused: false });
  connections.end();
  expect(await get(port, agent)).toEqual({ connection: 'close', reused: true });
  expect(await get(port, agent)).toEqual({ connection: 'close', reused: false });
});

test('answers under way end their connections, begun or not', async () => {
  const waiting: (() => void)[] = [];
  const { connections, port } = await serve((incoming, response) => {
    if (incoming.url === '/begun') response.write('one');
    waiting.push(() => response.end('two'));
  });
  const texts = ['/begun', '/not'].map(async (path) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    socket.setEncoding('utf8').on('data', (more: string) => (text += more));
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    await once(socket, 'end');
    return text;
  });
  while (waiting.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
  connections.end();
  let settled = false;
  const done = connections.settled().then(() => (settled = true));
  expect([connections.open.size, settled]).toEqual([2, false]);
  for (const finish of waiting) finish();
  const [begun, not] = await Promise.all(texts);
  expect(begun).toMatch(/Connection: keep-alive[^]*one[^]*two/);
  expect(not).toMatch(/Connection: close[^]*two/);
  await done;
  expect(connections.open.size).toBe(0);
});

test('a pipelined request whose caller leaves is not waited for', async () => {
  const { connections, port } = await serve(() => {});
  const socket = connect(port, '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n');
  while (connections.open.size === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  socket.destroy();
  await connections.settled();
  expect(connections.open.size).toBe(0);
});
