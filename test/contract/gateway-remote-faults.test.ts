import { closeServers } from '../fakes/gateway.js';
import {
  type Answer,
  ask,
  chunk,
  DONE,
  inTurn,
  named,
  openAiAnswer,
  provider,
  PROVIDER_KEY,
  refusal,
  remoteGateway,
  run,
  sends,
  streams,
} from '../fakes/provider.js';
import { events, messages, post } from '../fakes/talking-model.js';

/** Models that others serve: what goes wrong there, and what callers are told. */

afterEach(closeServers);

describe('refusals', () => {
  test.each([
    [401, /refuses the key of this gateway; its operator has to check remote\.keyFile of org\/remote/],
    [403, /refuses the key/],
    [402, /wants to be paid/],
    [404, /remote\.url and remote\.model of org\/remote/],
    [302, /redirects to another address, which is not followed/],
  ])('%i is the operator’s matter: a 502 that says what to check', async (given, told) => {
    const elsewhere = await provider(openAiAnswer());
    const { status, error, asked } = await ask(refusal(given, 'no', { location: elsewhere.url }));
    expect([status, error, asked.length]).toEqual([502, expect.stringMatching(told), 1]);
    expect(elsewhere.asked).toEqual([]);
  });

  test('400 is the caller’s: with the provider’s words, in one line, bounded, without the key', async () => {
    const words = `bad\r\n\u001b[31m ${PROVIDER_KEY} ${'x'.repeat(2000)}`;
    const { status, error } = await ask(refusal(400, words));
    expect([status, error.length < 700]).toEqual([400, true]);
    expect(error).toMatch(/^the provider of org\/remote refuses the request: bad \[31m … x+…$/);
  });

  test('a prompt that is too long is one in every interface', async () => {
    const words =
      "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.";
    const { status, error, base } = await ask(refusal(400, words, {}, { code: 'context_length_exceeded' }));
    expect([status, error]).toEqual([
      422,
      expect.stringMatching(/^the prompt has 9000 tokens, 809 too many/),
    ]);
    const answered = await post(`${base}/openai/v1/chat/completions`, { model: 'org/remote', messages });
    expect([answered.status, answered.text]).toEqual([
      400,
      expect.stringContaining('context_length_exceeded'),
    ]);
  });

  test.each([429, 503])('%i is tried again when the provider says', async (busy) => {
    const fake = await provider(inTurn(refusal(busy, 'busy', { 'retry-after': '0' }), openAiAnswer()));
    const { status } = await run(await remoteGateway({ url: fake.url }), { messages });
    expect([status, fake.asked.length]).toEqual([200, 2]);
  });

  test('429 that lasts is a 429, with the time to wait', async () => {
    const told = await ask(refusal(429, 'quota', { 'retry-after': '30' }));
    expect([told.status, told.error, told.retryAfter, told.asked.length]).toEqual([
      429,
      'Rate limit exceeded',
      '30',
      1,
    ]);
    const again = await ask(refusal(429, 'quota'));
    expect([again.status, again.asked.length > 1]).toEqual([429, true]);
  });

  test.each([
    [500, 503, /can't answer now \(500\); try again/],
    [529, 503, /can't answer now \(529\)/],
    [504, 504, /took too long/],
  ])('%i is a %i', async (given, expected, told) => {
    const { status, error } = await ask(refusal(given, 'oops'), {}, { options: { mostWaitMs: 0 } });
    expect([status, error]).toEqual([expected, expect.stringMatching(told)]);
  });
});

describe('answers that are none', () => {
  const html: Answer = (response) => void response.setHeader('content-type', 'text/html').end('<html>');
  const choice = (more: object) => sends({ choices: [{ message: { content: 'a' }, ...more }] });
  test.each<[string, Answer, number, RegExp]>([
    ['HTML', html, 502, /something else than JSON/],
    ['another shape', sends({ choices: [{ text: 'a' }] }), 502, /something else than OpenAI’s/],
    ['no choice', sends({ choices: [] }), 502, /something else than OpenAI’s/],
    [
      'an error with status 200',
      refusal(200, 'upstream is down'),
      503,
      /broke off: upstream is down; try again/,
    ],
    ['deep brackets', (response) => void response.end('['.repeat(1e6)), 502, /something else than JSON/],
    ['34 MB', (response) => void response.end(Buffer.alloc(34e6, ' ')), 502, /more than 33554432 bytes/],
    ['what a filter has cut', choice({ finish_reason: 'content_filter' }), 422, /content filter/],
    [
      'half of one',
      (response) =>
        void response.writeHead(200, { 'content-length': '99' }).write('{', () => response.destroy()),
      503,
      /broke off/,
    ],
    ['silence', () => {}, 504, /has sent nothing for 0\.5 s \(remote\.timeout\)/],
    ['silence in the middle', (response) => void response.write('{'), 504, /has sent nothing/],
    ['a hang-up', (response) => void response.destroy(), 503, /does not answer/],
  ])('%s', async (_, answer, status, told) => {
    expect(await ask(answer, { timeout: 0.5 })).toMatchObject({ status, error: expect.stringMatching(told) });
  });

  test('of embeddings', async () => {
    const given = { task: 'feature-extraction' as const, body: { text: 'x' } };
    for (const data of [[], [{ embedding: [] }], [{ embedding: ['a'] }]])
      expect(await ask(sends({ data }), {}, given)).toMatchObject({ status: 502 });
  });

  test('nobody is there', async () => {
    const base = await remoteGateway({ url: 'http://127.0.0.1:1' });
    const { status, headers, text } = await run(base, { messages });
    expect([status, headers.get('retry-after')]).toEqual([503, '1']);
    expect(text).not.toContain('127.0.0.1');
  });
});

describe('streams that break off', () => {
  const piece = chunk({ content: 'one' });
  const stream = { messages, stream: true };
  /** Streams that begin with some events. */
  const cases: [string, (begin: string[]) => Answer][] = [
    ['without an end', (begin) => streams(begin)],
    ['without a reason, but an end', (begin) => streams([...begin, DONE])],
    [
      'by the connection',
      (begin) => streams(begin, (response) => void setTimeout(() => response.destroy(), 50)),
    ],
    ['in silence', (begin) => streams(begin, (response) => response.flushHeaders())],
    ['by an error', (begin) => streams([...begin, 'data: {"error":{"message":"no\\nmore"}}\n\n'])],
    ['by what is no JSON', (begin) => streams([...begin, 'data: {\n\n'])],
    ['by an endless event', (begin) => streams([...begin, `data: ${'x'.repeat(5e6)}`], () => {})],
    ['by a filter', (begin) => streams([...begin, chunk({}, 'content_filter'), DONE])],
  ];

  test.each(cases)('%s: text is cut, events say so', async (_, answer) => {
    const { url } = await provider(answer([piece]));
    const base = await remoteGateway({ url, timeout: 1 });
    await expect(run(base, stream)).rejects.toThrow();
    const { status, text } = await run(base, stream, { accept: 'text/event-stream' });
    const told = events(text);
    expect([status, told[0]!.data, told.at(-1)!.name]).toEqual([200, { text: 'one' }, 'error']);
    expect(told.at(-1)!.data['error']).toMatch(/^the provider of org\/remote /);
    const openAi = await post(`${base}/openai/v1/chat/completions`, { model: 'org/remote', ...stream }).catch(
      () => undefined,
    );
    expect(openAi?.text ?? '').not.toContain('[DONE]');
  });

  test.each(cases)('%s: what fails before the first piece has a status', async (_, answer) => {
    const told = await ask(answer([]), { timeout: 1 }, { body: stream });
    expect([422, 502, 503, 504]).toContain(told.status);
  });

  test('a provider that does not stream', async () => {
    expect(await ask(sends({ choices: [] }), {}, { body: stream })).toMatchObject({ status: 503 });
  });

  test.each<[string, string[], RegExp]>([
    [
      'an error',
      [named('error', { error: { type: 'overloaded_error', message: 'Overloaded' } })],
      /broke off: Overloaded/,
    ],
    ['no end', [named('message_start', { message: {} })], /broke off/],
    [
      'a refusal',
      [named('message_delta', { delta: { stop_reason: 'refusal' } }), named('message_stop')],
      /content filter/,
    ],
    ['another interface', [chunk({ content: 'x' })], /something else than Anthropic’s/],
    ['half an event', [named('content_block_delta', { index: 'x' })], /something else than Anthropic’s/],
  ])('Anthropic’s: %s', async (_, sent, told) => {
    expect(await ask(streams(sent), { kind: 'anthropic' })).toMatchObject({
      error: expect.stringMatching(told),
    });
  });
});
