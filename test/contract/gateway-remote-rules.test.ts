import { Writable } from 'node:stream';
import { writeFile } from 'node:fs/promises';
import pino from 'pino';
import { closeServers, secret } from '../fakes/gateway.js';
import {
  anthropicAnswer,
  ask,
  chunk,
  keyFile,
  openAiAnswer,
  provider,
  refusal,
  remoteGateway,
  type RemoteFields,
  run,
} from '../fakes/provider.js';
import { waitFor } from '../fakes/server.js';
import { messages, post } from '../fakes/talking-model.js';

/** Models that others serve: what may be asked and how often, keys, callers who leave, tokens. */

afterEach(closeServers);

describe('what can’t be asked', () => {
  const start = [{ role: 'assistant', content: 'a' }];
  test.each<[string, object, RemoteFields, RegExp]>([
    ['beams', { num_beams: 4 }, {}, /^params\.num_beams: can't be given to org\/remote; leave it out$/],
    ['what only some servers know', { top_k: 4 }, {}, /^params\.top_k/],
    [
      'what the catalogue does not allow',
      { tools: [] },
      { parameters: ['max_new_tokens'] },
      /^params\.tools/,
    ],
    ['more than it allows', { max_new_tokens: 99 }, { limits: { maxTokens: 50 } }, /writes 50 at most/],
    ['a count', { count_only: true }, {}, /^params\.count_only/],
    ['to go on', { messages: start }, {}, /^params\.continue_final_message/],
    [
      'an answer to no call',
      { messages: [{ role: 'tool', content: 'x' }] },
      {},
      /^messages\.0: answers no call/,
    ],
    [
      'thoughts without room',
      { enable_thinking: true },
      { kind: 'anthropic' },
      /^params\.enable_thinking: needs/,
    ],
    [
      'the system later',
      { messages: [...messages, { role: 'system', content: 'x' }] },
      { kind: 'anthropic' },
      /^messages\.1\.role/,
    ],
    [
      'not to go on',
      { messages: start, continue_final_message: false },
      { kind: 'anthropic' },
      /^params\.continue_final/,
    ],
  ])(
    '%s: a 400 by name, and nobody is asked',
    async (_, { messages: given = messages, ...params }: { messages?: object[] }, fields, told) => {
      const { status, error, asked } = await ask(openAiAnswer(), fields, {
        body: { messages: given, params },
      });
      expect([status, error, asked]).toEqual([400, expect.stringMatching(told), []]);
    },
  );

  test('a length that the catalogue sets is asked for where the caller gives none', async () => {
    const { url, asked } = await provider(openAiAnswer());
    await run(await remoteGateway({ url, limits: { maxTokens: 50 } }), { messages });
    expect(asked[0]!.body).toMatchObject({ max_tokens: 50 });
  });

  test('an image that is none', async () => {
    const content = [{ type: 'image', base64: Buffer.from('<svg/>').toString('base64') }];
    const body = { messages: [{ role: 'user', content }] };
    expect(await ask(openAiAnswer(), {}, { task: 'image-text-to-text', body })).toMatchObject({
      status: 415,
      asked: [],
    });
  });

  test('more calls than the catalogue allows', async () => {
    const { url, open } = await provider(
      (response) => void setTimeout(() => openAiAnswer()(response, { path: '', headers: {}, body: {} }), 300),
    );
    const base = await remoteGateway({ url, limits: { concurrent: 1, perMinute: 2 } });
    const first = run(base, { messages });
    await waitFor(() => open() === 1);
    expect((await run(base, { messages })).status).toBe(429);
    expect((await first).status).toBe(200);
    expect((await run(base, { messages })).status).toBe(200);
    const last = await run(base, { messages });
    expect([last.status, Number(last.headers.get('retry-after')) > 1]).toEqual([429, true]);
  });
});

test('a provider that fails again and again is left alone for a while', async () => {
  const lines: string[] = [];
  const { url, asked } = await provider(refusal(500, 'oops'));
  const base = await remoteGateway({ url }, { lines });
  for (let i = 0; i < 5; i++) expect((await run(base, { messages })).status).toBe(503);
  const { status, headers, text } = await run(base, { messages });
  expect([status, headers.get('retry-after'), asked.length]).toEqual([503, '5', 5]);
  expect(text).toContain('has failed again and again; try again in 5 s');
  expect(lines).toEqual(['the provider of org/remote has failed 5 times in a row: no calls for 5 s']);
});

test.each([{}, { stream: true }])('a caller who leaves ends the call at the provider: %j', async (more) => {
  const { url, open } = await provider(
    (response) => void response.write(more.stream ? chunk({ content: 'x' }) : '{'),
  );
  const base = await remoteGateway({ url });
  const leaving = new AbortController();
  const call = fetch(`${base}/org/remote`, {
    ...{ method: 'POST', signal: leaving.signal, body: JSON.stringify({ messages, ...more }) },
    headers: { authorization: secret, 'content-type': 'application/json' },
  });
  await waitFor(() => open() === 1);
  if (more.stream) await call;
  leaving.abort();
  await call.then((answer) => answer.text()).catch(() => undefined);
  await waitFor(() => open() === 0);
});

describe('keys', () => {
  test('follow their file, and reach no log and no answer', async () => {
    const lines: string[] = [];
    const sink = new Writable({ write: (chunk, _, done) => (lines.push(String(chunk)), done()) });
    const file = await keyFile('sk-old');
    const { url, asked } = await provider((response, one) =>
      one.headers.authorization === 'Bearer sk-new'
        ? openAiAnswer()(response, one)
        : refusal(401, `Incorrect API key: ${one.headers.authorization}`)(response, one),
    );
    const base = await remoteGateway({ url, keyFile: file }, { lines, parts: { logger: pino(sink) } });
    const refused = await run(base, { messages });
    expect(refused.status).toBe(502);
    await writeFile(file, 'sk-new\n');
    expect((await run(base, { messages })).status).toBe(200);
    await writeFile(file, '');
    expect((await run(base, { messages })).status).toBe(200);
    expect(asked).toHaveLength(3);
    const told = [refused.text, ...lines].join('');
    expect(told).toContain('Incorrect API key');
    expect(told).toContain('the key that was there stays');
    expect(told).toContain(file);
    expect(refused.text).not.toContain(file);
    expect(told).not.toMatch(/sk-old|sk-new/);
  });

  test('a file that was never there', async () => {
    const { status, error, asked } = await ask(openAiAnswer(), { keyFile: '/nowhere/key' });
    expect([status, error, asked]).toEqual([
      502,
      expect.stringMatching(/can't be read; .*remote\.keyFile/),
      [],
    ]);
    expect(error).not.toContain('/nowhere');
  });

  test('servers without one', async () => {
    const { url, asked } = await provider(anthropicAnswer());
    await run(await remoteGateway({ kind: 'anthropic', url, keyFile: undefined }), { messages });
    expect(asked[0]!.headers).not.toHaveProperty('x-api-key');
  });
});

test('tokens that the provider does not tell are told by nobody, and that is logged once', async () => {
  const lines: string[] = [];
  const { url } = await provider(openAiAnswer({ usage: null }));
  const base = await remoteGateway({ url }, { lines });
  for (let i = 0; i < 2; i++) {
    const { text } = await post(`${base}/openai/v1/chat/completions`, { model: 'org/remote', messages });
    expect(text).not.toContain('usage');
  }
  expect(lines).toEqual([expect.stringMatching(/org\/remote does not tell tokens/)]);
  const claude = await post(`${base.slice(0, -10)}/v1/messages`, {
    model: 'org/remote',
    messages,
    max_tokens: 9,
  });
  expect(claude.text).toContain('"input_tokens":null,"output_tokens":null');
});
