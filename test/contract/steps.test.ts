import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { RunError } from '../../runtime/core/errors.js';
import type { ModelService } from '../../runtime/http/service.js';
import { fakeApp } from '../fakes/app.js';
import { closeServers, gateway, secret, started } from '../fakes/gateway.js';

/** How far images are that are made step by step. */

afterEach(closeServers);

const media = Uint8Array.from([1, 2, 3, 250]);
const URL_OF_MEDIA = `data:image/png;base64,${Buffer.from(media).toString('base64')}`;

const inTwoSteps: ModelService['run'] = async (_input, { onStep }) => {
  for (const step of [0, 1, 2]) onStep?.({ step, steps: 2 });
  return { mediaType: 'image/png', media };
};
const STEPS = [0, 1, 2].map((step) => `event: progress\ndata: {"step":${step},"steps":2}\n\n`).join('');

const painter = (run: ModelService['run'] = inTwoSteps) => fakeApp({ task: 'text-to-image', run });

/** Asks a container, and the same one behind a gateway. */
async function ask(container: RequestListener, body: object, headers: Record<string, string> = {}) {
  const models = [{ task: 'text-to-image' as const }];
  const direct = `${await started(createServer(container))}/run`;
  const hosted = `${await gateway({ container, models })}/org/name`;
  return Promise.all(
    [direct, hosted].map((url) =>
      fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: secret, ...headers },
        body: JSON.stringify({ text: 'a hill', ...body }),
      }),
    ),
  );
}

const EVENTS = { accept: 'text/event-stream' };

test('events of the steps, then the medium', async () => {
  for (const answer of await ask(painter(), { stream: true }, EVENTS)) {
    expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(answer.headers.get('cache-control')).toBe('no-cache');
    expect(await answer.text()).toBe(`${STEPS}event: final\ndata: {"output":"${URL_OF_MEDIA}"}\n\n`);
  }
});

test.each<[string, object, Record<string, string>]>([
  ['without a stream', {}, EVENTS],
  ['where events are not accepted', { stream: true }, {}],
  ['where JSON is preferred', { stream: true }, { accept: 'application/json, text/event-stream;q=0.5' }],
])('the envelope %s', async (_, body, headers) => {
  for (const answer of await ask(painter(), body, headers)) {
    expect(await answer.json()).toEqual({ error: null, output: URL_OF_MEDIA });
  }
});

test('the medium as it is for clients that stream it', async () => {
  const body = { stream: true, json: false };
  for (const answer of await ask(painter(), body, { lang: 'python' })) {
    expect(answer.headers.get('content-type')).toBe('image/png');
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(Buffer.from(media));
  }
});

test('other tasks don’t tell their steps', async () => {
  const run: ModelService['run'] = async () => ({ mediaType: 'audio/wav', media });
  const address = await started(createServer(fakeApp({ task: 'text-to-speech', run })));
  const answer = await fetch(`${address}/run`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...EVENTS },
    body: JSON.stringify({ text: 'x', stream: true }),
  });
  expect(await answer.json()).toMatchObject({ error: null });
});

test('what fails before the steps is an ordinary error; what fails later is an event', async () => {
  const refused = painter(async () => {
    throw new RunError('unprocessable', 'params.width: too large');
  });
  for (const answer of await ask(refused, { stream: true }, EVENTS)) {
    const body = { error: 'params.width: too large', output: null };
    expect([answer.status, await answer.json()]).toEqual([422, body]);
  }
  const late = painter(async (_input, { onStep }) => {
    onStep?.({ step: 0, steps: 2 });
    throw new RunError('engine_crashed', 'gone');
  });
  const [direct] = await ask(late, { stream: true }, EVENTS);
  const first = 'event: progress\ndata: {"step":0,"steps":2}\n\n';
  expect(await direct!.text()).toBe(`${first}event: error\ndata: {"error":"gone"}\n\n`);
});

describe('the log', () => {
  function logged(run: ModelService['run']) {
    const lines: Record<string, unknown>[] = [];
    const write = (line: Buffer, _: unknown, done: () => void) => {
      lines.push(JSON.parse(line.toString()) as Record<string, unknown>);
      done();
    };
    const app = fakeApp({ task: 'text-to-image', run, logger: pino({}, new Writable({ write })) });
    return { lines, server: createServer(app) };
  }

  const post = (address: string) =>
    fetch(`${address}/run`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"text":"a hill"}',
    });

  const nextTurns = () => new Promise((resolve) => setTimeout(resolve, 50));

  test('one line for all steps, with the answer', async () => {
    const { lines, server } = logged(inTwoSteps);
    await (await post(await started(server))).text();
    await nextTurns();
    expect(lines).toEqual([expect.objectContaining({ msg: 'POST /run', status: 200, step: 2, steps: 2 })]);
  });

  test('how far it was when the caller left', async () => {
    const { lines, server } = logged(async (_input, { onStep, signal }) => {
      onStep?.({ step: 1, steps: 50 });
      return new Promise((_, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason as Error)),
      );
    });
    await started(server);
    const caller = connect((server.address() as AddressInfo).port, '127.0.0.1');
    const body = '{"text":"a hill"}';
    const head = `POST /run HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`;
    caller.write(`${head}\r\n\r\n${body}`);
    await nextTurns();
    caller.destroy();
    await once(caller, 'close');
    await nextTurns();
    expect(lines).toContainEqual(expect.objectContaining({ code: 'cancelled', step: 1, steps: 50 }));
  });

  test('a line every half minute of long work', async () => {
    const { lines, server } = logged(async (_input, { onStep }) => {
      const real = performance.now.bind(performance);
      try {
        for (const step of [0, 1, 2, 3, 4]) {
          performance.now = () => real() + step * 16_000;
          onStep?.({ step, steps: 4 });
        }
      } finally {
        performance.now = real;
      }
      return { mediaType: 'image/png', media };
    });
    await (await post(await started(server))).text();
    await nextTurns();
    const under = lines
      .filter(({ msg }) => msg === 'at work')
      .map(({ step, requestId }) => [step, typeof requestId]);
    expect(under).toEqual([
      [2, 'string'],
      [4, 'string'],
    ]);
  });
});
