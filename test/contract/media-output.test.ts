import request from 'supertest';
import { fakeApp } from '../fakes/app.js';

/** How images, audio clips and video that a model makes are sent. */

const media = Uint8Array.from([1, 2, 3, 250]);
const app = fakeApp({ task: 'text-to-speech', run: async () => ({ mediaType: 'audio/wav', media }) });

const send = (body: object, lang?: string) => {
  const call = request(app).post('/run').buffer(true);
  // supertest parses by the content type otherwise.
  call.parse((response, done) => {
    const pieces: Buffer[] = [];
    response.on('data', (piece: Buffer) => pieces.push(piece));
    response.on('end', () => done(null, Buffer.concat(pieces)));
  });
  return (lang === undefined ? call : call.set('lang', lang)).send({ text: 'hello', ...body });
};

const IN_ENVELOPE = { error: null, output: `data:audio/wav;base64,${Buffer.from(media).toString('base64')}` };

test.each([
  ['nothing said', {}, undefined],
  ['json: false of others', { json: false }, undefined],
  ['nothing said by a published client', { stream: false }, 'python'],
  ['an unknown client', { json: false }, 'ruby'],
  ['a stream that is no stream of text', { stream: true }, undefined],
])('in the envelope: %s', async (_, body, lang) => {
  const answer = await send(body, lang);
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
  expect(JSON.parse((answer.body as Buffer).toString())).toEqual(IN_ENVELOPE);
});

test.each([
  ['json: true', { json: true }, undefined],
  ['json: false of a published client', { json: false }, 'javascript'],
  ['a stream of a published client', { stream: true, json: false }, 'python'],
  ['a stream, and no JSON', { stream: true, json: false }, undefined],
  ['in the shorthand', { input: { json: true } }, undefined],
])('as it is: %s', async (_, body, lang) => {
  const answer = await send(body, lang);
  expect(answer.status).toBe(200);
  expect(answer.headers).toMatchObject({ 'content-type': 'audio/wav', 'content-length': '4' });
  expect(answer.body).toEqual(Buffer.from(media));
});

test('json is true or false', async () => {
  const answer = await send({ json: 'yes' });
  expect([answer.status, JSON.parse((answer.body as Buffer).toString()).error]).toEqual([
    400,
    'json: must be true or false',
  ]);
});

test('tasks whose answers are no media ignore it', async () => {
  const texts = fakeApp({ task: 'fill-mask', run: async () => [] });
  const answer = await request(texts).post('/run').send({ text: 'a [MASK]', json: true });
  expect(answer.body).toEqual({ error: null, output: [] });
});
