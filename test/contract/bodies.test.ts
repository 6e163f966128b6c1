import { randomBytes } from 'node:crypto';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import request from 'supertest';
import { IMAGE } from '../../runtime/tasks/example.js';
import { createByteBudget } from '../../runtime/wire/byte-budget.js';
import { fakeApp } from '../fakes/app.js';
import { closeServers, gateway, secret } from '../fakes/gateway.js';

/** What a body may become, whatever its length. */

afterEach(closeServers);

const answers = fakeApp({ task: 'text-classification', run: async () => [] });

/** supertest would turn a Buffer into JSON. */
const raw = (body: unknown) => body as string;

/** The best quality takes seconds for a megabyte. */
const QUICKLY = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

test.each([
  ['gzip', gzipSync],
  ['br', (text: string) => brotliCompressSync(text, QUICKLY)],
] as const)('a bomb in %s is a 413, however much a body may have', async (encoding, compress) => {
  const app = fakeApp({ task: 'text-classification', maxBodyBytes: 2 ** 25, run: async () => [] });
  const send = (text: string) => {
    const call = request(app).post('/run').set('content-type', 'application/json');
    return call
      .set('content-encoding', encoding)
      .serialize(raw)
      .send(compress(JSON.stringify({ text })));
  };
  const bomb = await send('x'.repeat(2 ** 24));
  expect([bomb.status, bomb.body.error]).toEqual([
    413,
    `the body becomes more than 200 times as large without ${encoding}; send it plain`,
  ]);
  expect((await send('x'.repeat(900_000))).status).toBe(200);
  expect((await send(randomBytes(2_000_000).toString('base64'))).status).toBe(200);
});

test('what a body would become is bounded before it is made', async () => {
  const send = (body: string) =>
    request(answers).post('/run').set('content-type', 'application/json').send(body);
  const many = await send(`{"text":"x","junk":[${'{},'.repeat(30_000)}1]}`);
  expect([many.status, many.body.error]).toEqual([
    413,
    'the body has more than 20000 arrays, objects and values in them (MAX_BODY_VALUES)',
  ]);
  const deep = await send(`{"text":"x","junk":${'['.repeat(10_000)}${']'.repeat(10_000)}}`);
  expect([deep.status, deep.body.error]).toEqual([400, expect.stringMatching(/more than 100 levels/)]);
  expect((await send(`{"text":"x","junk":[${'1,'.repeat(19_000)}1]}`)).status).toBe(200);
});

test.each([
  ['a text', 'text-classification', { text: 'x' }, 2 ** 20],
  ['an image', 'image-classification', { base64: 'AAAA' }, 48 * 2 ** 20],
] as const)('a gateway takes as much of %s as its own server would', async (_, task, body, most) => {
  const at = await gateway({ models: [{ task }], parts: { body: { budget: createByteBudget(2 ** 30) } } });
  const send = async (length: number) => {
    const [field, value] = Object.entries(body)[0]!;
    const text = JSON.stringify({ [field]: value.padEnd(length - field.length - 7, 'A') });
    expect(text).toHaveLength(length);
    const headers = { authorization: secret, 'content-type': 'application/json' };
    const answer = await fetch(`${at}/org/name`, { method: 'POST', headers, body: text });
    return [answer.status, ((await answer.json()) as { error: string }).error];
  };
  // Nobody listens behind it.
  expect(await send(most)).toEqual([503, 'the model does not answer; try again']);
  expect(await send(most + 1)).toEqual([413, `the body is larger than ${most} bytes (MAX_BODY_BYTES)`]);
});

test('OpenAI’s interface takes as much as the models behind it', async () => {
  const at = await gateway({ parts: { body: { budget: createByteBudget(2 ** 30) } } });
  const send = async (path: string, length: number) => {
    const body = JSON.stringify({ model: 'org/name', prompt: 'x'.repeat(length) });
    const headers = { authorization: secret, 'content-type': 'application/json' };
    const answer = await fetch(`${at}/openai/v1/${path}`, { method: 'POST', headers, body });
    return [answer.status, ((await answer.json()) as { error: { message: string } }).error.message];
  };
  const tooLarge = (most: number) => [413, `the body is larger than ${most} bytes (MAX_BODY_BYTES)`];
  expect(await send('completions', 4 * 2 ** 20)).toEqual(tooLarge(2 ** 20));
  // Conversations may hold images.
  expect(await send('chat/completions', 48 * 2 ** 20)).toEqual(tooLarge(48 * 2 ** 20));
  // Each of its texts is a body of its own.
  expect(await send('embeddings', 4 * 2 ** 20)).toEqual(tooLarge(4 * 2 ** 20));
});

describe('labels that the model would have to judge one by one', () => {
  const send = async (candidate_labels: unknown) => {
    const app = fakeApp({ task: 'zero-shot-classification', run: async () => [] });
    const answer = await request(app).post('/run').send({ text: 'x', candidate_labels });
    return [answer.status, answer.body.error];
  };
  const many = (count: number) => Array.from({ length: count }, (_, i) => `label ${i}`);
  const refused = [400, 'candidate_labels: takes at most 1000 labels'];

  test('are a thousand at most', async () => {
    expect(await send(many(1000))).toEqual([200, null]);
    expect(await send(many(1001))).toEqual(refused);
    expect(await send(many(1000).join())).toEqual([200, null]);
    expect(await send(many(1001).join())).toEqual(refused);
    expect(await send('x,'.repeat(400_000))).toEqual(refused);
  });
});

test('embeddings that are megabytes of JSON come in pieces, and whole', async () => {
  const vector = Array.from({ length: 1000 }, (_, i) => i / 7);
  const at = await gateway({
    models: [{ task: 'feature-extraction' }],
    container: (asked, answer) => {
      asked.resume();
      answer
        .setHeader('content-type', 'application/json')
        .end(JSON.stringify({ error: null, output: vector }));
    },
  });
  const send = async (inputs: number) => {
    const answer = await fetch(`${at}/openai/v1/embeddings`, {
      method: 'POST',
      headers: { authorization: secret, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'org/name', input: Array.from({ length: inputs }, () => 'x') }),
    });
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await answer.json()).toEqual({
      object: 'list',
      data: Array.from({ length: inputs }, (_, index) => ({ object: 'embedding', index, embedding: vector })),
      model: 'org/name',
    });
  };
  for (const inputs of [1, 6, 200]) await send(inputs);
});

describe('an image of megabytes', () => {
  const image = Buffer.concat([Buffer.from(IMAGE, 'base64'), randomBytes(3e6)]);
  const base64 = image.toString('base64');
  const seen: Buffer[] = [];
  const app = fakeApp({
    task: 'image-classification',
    maxBodyBytes: 2 ** 24,
    maxMediaBytes: 2 ** 23,
    async run({ media }) {
      seen.push(Buffer.from(media.bytes));
      return [];
    },
  });
  const send = (body: string) => request(app).post('/run').set('content-type', 'application/json').send(body);

  test.each([
    ['bare', JSON.stringify({ base64 })],
    ['as a data URL', JSON.stringify({ base64: `data:image/png;base64,${base64}` })],
    ['as an image', JSON.stringify({ image: base64 })],
    ['as the input', JSON.stringify({ input: base64 })],
    ['in the input', JSON.stringify({ input: { base64 } })],
    ['with escaped slashes', JSON.stringify({ base64 }).replaceAll('/', '\\/')],
    ['in lines', JSON.stringify({ base64: base64.replace(/.{76}/g, '$&\r\n') })],
  ])('%s', async (_, body) => {
    const answer = await send(body);
    expect([answer.status, answer.body.error]).toEqual([200, null]);
    expect(seen.pop()!.equals(image)).toBe(true);
  });

  test.each([
    ['that is not Base64', JSON.stringify({ base64: `${base64}*` }), 422],
    ['with a control character', JSON.stringify({ base64 }).replace('"}', '\u0001"}'), 400],
    ['without an end', JSON.stringify({ base64 }).slice(0, -3), 400],
    ['that is no image', JSON.stringify({ base64: 'AAAA'.repeat(5e5) }), 415],
  ])('%s is a %#', async (_, body, status) => {
    expect((await send(body)).status).toBe(status);
  });
});
