import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAnalytics, type RunEvent } from '../../runtime/boot/analytics.js';
import { findNewerVersion, checkKeyStatus } from '../../runtime/boot/notices.js';

const event: RunEvent = { model: 'a/b', task: 'chat', status: 200, milliseconds: 5 };

let server: Server | undefined;
afterEach(() => server?.closeAllConnections());
afterEach(() => server?.close());

async function serve(listener: RequestListener): Promise<string> {
  server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

/** Collects posted bodies until `count` events have come. */
async function collect(count: number): Promise<{ url: string; bodies: Promise<string[]> }> {
  const bodies: string[] = [];
  let finish: (bodies: string[]) => void;
  const all = new Promise<string[]>((resolve) => (finish = resolve));
  const url = await serve((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += String(chunk)));
    request.on('end', () => {
      bodies.push(body);
      response.end();
      if (bodies.flatMap((text) => (JSON.parse(text) as { events: [] }).events).length >= count)
        finish(bodies);
    });
  });
  return { url, bodies: all };
}

test('events hold metadata and nothing else; those that wait go together', async () => {
  const { url, bodies } = await collect(151);
  const analytics = createAnalytics(url, 'key', { pauseMs: 1 });
  for (let i = 0; i < 151; i++) analytics.record(event);
  const sent = (await bodies).map((body) => JSON.parse(body) as { events: RunEvent[] });
  expect(sent.map(({ events }) => events.length)).toEqual([1, 150]);
  expect(sent[0]).toEqual({ events: [event] });
});

test('an endpoint that hangs gets one request, and what can wait is bounded', async () => {
  let release: () => void = () => {};
  const counts: number[] = [];
  const url = await serve((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += String(chunk)));
    request.on('end', () => {
      counts.push((JSON.parse(body) as { events: [] }).events.length);
      if (counts.length === 1) release = () => response.end();
      else response.end();
    });
  });
  const analytics = createAnalytics(url, 'key', { pauseMs: 1 });
  for (let i = 0; i < 5000; i++) analytics.record(event);
  while (counts.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  release();
  while (counts.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(counts).toEqual([1, 1000]);
});

test('an endpoint that breaks off is tried again with the next event', async () => {
  const seen: string[] = [];
  const url = await serve((request, response) => {
    seen.push(request.url!);
    response.writeHead(200, { 'content-length': '100' }).write('x', () => request.socket.destroy());
  });
  const analytics = createAnalytics(url, 'key', { pauseMs: 1 });
  for (const expected of [1, 2, 3]) {
    analytics.record(event);
    while (seen.length < expected) await new Promise((resolve) => setTimeout(resolve, 5));
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect(seen).toHaveLength(3);
});

test('without an endpoint nothing happens', () => {
  expect(() => createAnalytics(undefined, 'key').record(event)).not.toThrow();
});

test.each([
  ['{"version":"2.0.0"}', '2.0.0'],
  ['{"version":"1.0.10"}', '1.0.10'],
  ['{"error":null,"output":{"version":"2.0.0"}}', '2.0.0'],
  ['{"version":"0.9.9"}', undefined],
  ['{"version":"1.0.0"}', undefined],
  ['{"version":"<b>2</b> click here"}', undefined],
  ['{"version":2}', undefined],
  ['[]', undefined],
  ['<html>', undefined],
])('the update endpoint says %s', async (body, expected) => {
  const url = await serve((_request, response) => response.end(body));
  expect(await findNewerVersion(url, '1.0.0', { key: 'key' })).toBe(expected);
});

test('an update endpoint that is away is no error', async () => {
  expect(await findNewerVersion('http://127.0.0.1:1/', '1.0.0', { key: 'key' })).toBeUndefined();
});

test.each([
  [200, 'accepted'],
  [401, 'refused'],
  [403, 'refused'],
  [500, undefined],
] as const)('the validation endpoint answers %i: the key is %s', async (status, standing) => {
  const url = await serve((request, response) => {
    request.resume();
    response.writeHead(request.headers.authorization === 'Key key' ? status : 400).end('{}');
  });
  expect(await checkKeyStatus(url, { key: 'key' }, { model: 'a/b', task: 'chat', version: '1' })).toBe(
    standing,
  );
});
