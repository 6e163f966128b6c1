import { createServer, type RequestListener } from 'node:http';
import { closeServers, gateway, secret, started } from '../fakes/gateway.js';
import { waitFor } from '../fakes/server.js';

afterEach(closeServers);

const headers = { authorization: `Key ${secret}`, 'content-type': 'application/json' };
const callMs = 300;

function ask(base: string, body: object, route = 'org/name'): Promise<Response> {
  const signal = AbortSignal.timeout(20_000);
  return fetch(`${base}/${route}`, { method: 'POST', headers, body: JSON.stringify(body), signal });
}

/** Takes every request and answers none. */
const frozen: RequestListener = (request) => void request.resume();

/** Begins its answer and goes no further. */
const standing: RequestListener = (request, response) => {
  request.resume();
  response.setHeader('Content-Type', 'text/plain; charset=utf-8').write('once');
};

test('a server that takes a call and never answers costs its caller the deadline, and no more', async () => {
  const answer = await ask(await gateway({ container: frozen, parts: { callMs } }), { text: 'x' });
  expect(answer.status).toBe(504);
  expect(await answer.json()).toEqual({
    error: 'the model has not finished within 0.3 s (--call-timeout)',
    output: null,
  });
});

test('the same in the OpenAI dialect, in its own words', async () => {
  const base = await gateway({ container: frozen, parts: { callMs } });
  const answer = await ask(base, { model: 'org/name', prompt: 'x' }, 'openai/v1/completions');
  expect(answer.status).toBe(504);
  expect(await answer.json()).toMatchObject({ error: { message: expect.stringMatching(/--call-timeout/) } });
});

test('a stream that stands still is cut at the deadline', async () => {
  const answer = await ask(await gateway({ container: standing, parts: { callMs } }), {
    text: 'x',
    stream: true,
  });
  expect(answer.status).toBe(200);
  await expect(answer.text()).rejects.toThrow();
});

test.each([false, true])('its lease is given back and its server looked at, streamed: %s', async (stream) => {
  const told: string[] = [];
  const url = await started(createServer(stream ? standing : frozen));
  const release = () => void told.push('released');
  const suspect = async () => void told.push('suspected');
  const upstream = { acquire: async () => ({ url, cold: false, release, suspect }), close: async () => {} };
  const answer = await ask(await gateway({ parts: { callMs, upstream } }), { text: 'x', stream });
  await answer.text().catch(() => undefined);
  await waitFor(async () => told.length === 2);
  expect(told).toEqual(['suspected', 'released']);
});
