import type { RequestListener } from 'node:http';
import { closeServers, gateway, JSON_TYPE, secret } from '../fakes/gateway.js';
import { ask, inTurn, keyFile, provider, refusal, remoteGateway, run, sends } from '../fakes/provider.js';
import { events, json, messages, model, post, tools } from '../fakes/talking-model.js';
import type { TaskId } from '../../runtime/core/task-ids.js';
import type { RemoteFields } from '../fakes/provider.js';

/** Models that another gateway of ours serves. */

afterEach(closeServers);

/** A gateway before another one, which has `container`. */
async function chained(container: RequestListener, task: TaskId, fields: RemoteFields = {}): Promise<string> {
  const far = await gateway({ container, models: [{ modelId: 'far/model', task }] });
  const url = far.slice(0, -'/models/v2'.length);
  return remoteGateway(
    { kind: 'slipway', url, model: 'far/model', keyFile: await keyFile(secret), ...fields },
    { task },
  );
}

const answers =
  (type: string, body: string | Buffer, headers = {}): RequestListener =>
  (request, response) => {
    request.resume().on('end', () => response.writeHead(200, { 'content-type': type, ...headers }).end(body));
  };

test('a talking model: whole, streamed, through other interfaces, counted', async () => {
  const far = await model('gateway');
  const base = await remoteGateway({
    ...{ kind: 'slipway', url: far, model: 'test/model', keyFile: await keyFile(secret) },
  });
  const body = { model: 'org/remote', messages, tools };
  const whole = await run(base, { messages, params: { parse_response: true } });
  expect([JSON.parse(whole.text).output.content, whole.headers.get('inference-tokens-in')]).toEqual([
    'Let me look.',
    '7',
  ]);
  expect((await run(base, { messages, stream: true })).text).toBe('Let me look.');
  expect(await json(post(`${base}/openai/v1/chat/completions`, body))).toMatchObject({
    choices: [
      { message: { reasoning_content: 'hm yes', tool_calls: [{}, {}] }, finish_reason: 'tool_calls' },
    ],
    usage: { prompt_tokens: 7 },
  });
  const streamed = await post(`${base.slice(0, -10)}/v1/messages`, {
    ...{ model: 'org/remote', messages, max_tokens: 9, stream: true },
  });
  expect(events(streamed.text)[0]!.data).toMatchObject({ message: { usage: { input_tokens: 7 } } });
});

test('any task: a medium as it is, an object in the envelope', async () => {
  const png = Buffer.from([0x89, 0x50, 0x4e, 0x47]);
  const images = await chained(answers('image/png', png), 'text-to-image');
  const drawn = await fetch(`${images}/org/remote`, {
    ...{ method: 'POST', body: JSON.stringify({ text: 'a boat', json: true }) },
    headers: { authorization: secret, 'content-type': 'application/json', lang: 'python' },
  });
  expect([drawn.headers.get('content-type'), Buffer.from(await drawn.arrayBuffer())]).toEqual([
    'image/png',
    png,
  ]);
  const rows = '[{"label":"a","score":1}]';
  const classes = await chained(answers(JSON_TYPE, `{"error":null,"output":${rows}}`), 'text-classification');
  expect((await run(classes, { text: 'x' })).text).toBe(`{"error":null,"output":${rows}}`);
});

test('the meter and the cost are of this gateway', async () => {
  const price = { meter: 'far', perSecond: '0.5' };
  const base = await chained(answers(JSON_TYPE, '{"error":null,"output":"x"}'), 'text-generation', { price });
  const { headers } = await run(base, { text: 'x' });
  expect([headers.get('inference-meter'), headers.get('inference-meter-price')]).toEqual([
    'far',
    '0.5 / sec',
  ]);
});

const gatewayOf = { kind: 'slipway', model: 'far/model' } as const;

test.each([
  [400, 400, /^text: no$/],
  [413, 413, /^text: no$/],
  [422, 422, /^text: no$/],
  [500, 500, /^text: no/],
  [401, 502, /refuses the key/],
  [404, 502, /remote\.model of org\/remote/],
  [503, 503, /can't answer now/],
])('its %i is a %i', async (given, status, told) => {
  const answer = sends({ error: 'text: no', output: null }, given);
  const got = await ask(answer, gatewayOf, { options: { mostWaitMs: 0 } });
  expect(got).toMatchObject({ status, error: expect.stringMatching(told) });
});

test('what is no gateway’s answer', async () => {
  const html = await ask(
    (response) => void response.setHeader('content-type', 'text/html').end('x'),
    gatewayOf,
  );
  expect(html).toMatchObject({ status: 502 });
  const array = await provider(sends([]));
  const base = await remoteGateway({ ...gatewayOf, url: array.url });
  const answered = await post(`${base}/openai/v1/chat/completions`, { model: 'org/remote', messages });
  expect([answered.status, JSON.parse(answered.text)]).toMatchObject([
    503,
    { error: { message: /broke off/ } },
  ]);
});

test('one that stops and has not begun is asked again', async () => {
  const { url, asked } = await provider(
    inTurn(
      refusal(503, 'stopping', { 'retry-after': '0' }),
      sends({ error: null, output: { role: 'assistant', content: 'x' } }),
    ),
  );
  const base = await remoteGateway({ ...gatewayOf, url });
  expect([(await run(base, { messages })).status, asked.length]).toEqual([200, 2]);
  expect(asked[0]).toMatchObject({ path: '/models/v2/far/model', body: { messages } });
});

test('what the catalogue limits', async () => {
  const { url, asked } = await provider(sends({ error: null, output: 'x' }));
  const base = await remoteGateway(
    { ...gatewayOf, url, limits: { maxTokens: 50 }, parameters: ['seed', 'max_new_tokens'] },
    { task: 'text-generation' },
  );
  expect((await run(base, { text: 'a', params: { top_k: 3 } })).text).toContain(
    "params.top_k: can't be given",
  );
  expect((await run(base, { text: 'a', params: { max_new_tokens: 51 } })).text).toContain(
    'writes 50 at most',
  );
  expect((await run(base, { input: { text: 'a' }, params: { seed: 1 } })).status).toBe(200);
  expect(asked.map(({ body }) => body)).toEqual([
    { input: { text: 'a' }, params: { seed: 1, max_new_tokens: 50 } },
  ]);
});

test('a stream that breaks off is cut here, too', async () => {
  const broken = await provider((response) => {
    response.writeHead(200, { 'content-type': 'text/plain' }).write('one');
    setTimeout(() => response.destroy(), 100);
  });
  const base = await remoteGateway({ ...gatewayOf, url: broken.url });
  await expect(run(base, { messages, stream: true })).rejects.toThrow();
});
