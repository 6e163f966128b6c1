import { createServer, type RequestListener } from 'node:http';
import { staticUpstream } from '../../gateway/upstream/static.js';
import { RunError } from '../../runtime/core/errors.js';
import { fakeApp } from '../fakes/app.js';
import { closeServers, gateway, secret, started } from '../fakes/gateway.js';

/** Calls whose server stops, or has gone, are answered by another one. */

afterEach(closeServers);

const fine = (name: string, asked: string[]): RequestListener =>
  fakeApp({
    task: 'text-generation',
    async run(_input, { onDelta }) {
      asked.push(name);
      onDelta?.({ text: name });
      return name;
    },
  });

const stopping = (asked: string[]): RequestListener =>
  fakeApp({
    task: 'text-generation',
    async run() {
      asked.push('stopping');
      throw new RunError('stopping', 'the server is stopping', { retryAfter: 5 });
    },
  });

const breaks =
  (asked: string[], begin = false): RequestListener =>
  (request, response) => {
    request.resume().once('end', () => {
      asked.push('breaks');
      if (begin) response.writeHead(200, { 'content-type': 'application/json' }).write('{"err');
      setTimeout(() => response.destroy(), 10);
    });
  };

async function call(listeners: RequestListener[], path = '/org/name', body: object = { text: 'x' }) {
  const addresses = await Promise.all(listeners.map((listener) => started(createServer(listener))));
  const base = await gateway({ models: [{ addresses }], parts: { upstream: staticUpstream() } });
  const answer = await fetch(base + path, {
    method: 'POST',
    headers: { authorization: `Key ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: answer.status, text: await answer.text() };
}

test('a server says that it has not begun', async () => {
  const url = await started(createServer(stopping([])));
  const answer = await fetch(`${url}/run`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"text":"x"}',
  });
  expect([
    answer.status,
    answer.headers.get('x-slipway-not-begun'),
    answer.headers.get('retry-after'),
  ]).toEqual([503, 'stopping', '5']);
});

test.each([
  ['/org/name', { text: 'x' }],
  ['/org/name', { text: 'x', stream: true }],
  ['/openai/v1/completions', { model: 'org/name', prompt: 'x' }],
])('%s %j refused by one that stops', async (path, body) => {
  const asked: string[] = [];
  const { status, text } = await call([stopping(asked), stopping(asked), fine('other', asked)], path, body);
  expect([status, asked]).toEqual([200, ['stopping', 'stopping', 'other']]);
  expect(text).toContain('other');
});

test('broken before a byte of the answer: once, since the call itself may be what ends servers', async () => {
  const asked: string[] = [];
  expect((await call([breaks(asked), fine('other', asked)])).status).toBe(200);
  expect(asked).toEqual(['breaks', 'other']);
  asked.length = 0;
  const { status, text } = await call([breaks(asked), breaks(asked), fine('other', asked)]);
  expect([status, text, asked]).toEqual([
    503,
    expect.stringContaining('the model does not answer'),
    ['breaks', 'breaks'],
  ]);
});

test('broken after the answer has begun: it is not computed again', async () => {
  const asked: string[] = [];
  const { status } = await call([breaks(asked, true), fine('other', asked)]).catch(() => ({ status: 0 }));
  expect([status, asked]).toEqual([0, ['breaks']]);
});

test('alone it is asked again until it runs', async () => {
  const asked: string[] = [];
  let ready = false;
  const [no, yes] = [stopping(asked), fine('again', asked)];
  const restarts: RequestListener = (request, response) => {
    if (asked.length === 0) setTimeout(() => (ready = true), 300);
    (ready ? yes : no)(request, response);
  };
  const { status } = await call([restarts]);
  expect([status, asked.at(-1)]).toEqual([200, 'again']);
  expect(asked.length).toBeGreaterThan(2);
});

test('what failed elsewhere is not tried again', async () => {
  const asked: string[] = [];
  const failing = fakeApp({
    task: 'text-generation',
    async run() {
      asked.push('fails');
      throw new RunError('engine_crashed', 'the model process was ended');
    },
  });
  const { status } = await call([failing, fine('other', asked)]);
  expect([status, asked]).toEqual([503, ['fails']]);
});

test('a second try goes over a new connection: a kept one leads to the same server behind one address', async () => {
  const asked: string[] = [];
  const stops = stopping(asked);
  const serves = fine('new', asked);
  const old = new WeakSet<object>();
  let stopsNow = false;
  // Connections from before lead to the old pod, as those through a Service of a cluster.
  const address = await started(
    createServer((request, response) => {
      if (!stopsNow) old.add(request.socket);
      (stopsNow && old.has(request.socket) ? stops : serves)(request, response);
    }),
  );
  const base = await gateway({ models: [{ addresses: [address] }] });
  const post = async () => {
    const answer = await fetch(`${base}/org/name`, {
      method: 'POST',
      headers: { authorization: `Key ${secret}`, 'content-type': 'application/json' },
      body: '{"text":"x"}',
    });
    await answer.text();
    return answer.status;
  };
  await Promise.all(Array.from({ length: 8 }, post));
  stopsNow = true;
  asked.length = 0;
  expect(await Promise.all(Array.from({ length: 8 }, post))).toEqual(Array(8).fill(200));
  expect(asked.filter((name) => name === 'new')).toHaveLength(8);
});
