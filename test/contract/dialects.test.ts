import OpenAI from 'openai';
import { openAi } from '../../runtime/dialects/openai/routes.js';
import { DIALECTS } from '../../runtime/dialects/registry.js';
import { RunError } from '../../runtime/core/errors.js';
import { closeServers, secret } from '../fakes/gateway.js';
import { mounted, MOUNTS } from '../fakes/dialects.js';

afterEach(closeServers);

const client = (base: string) => new OpenAI({ apiKey: secret, baseURL: `${base}/v1`, maxRetries: 0 });

const chat = { model: 'test/model', messages: [{ role: 'user' as const, content: 'hi' }] };

describe.each(MOUNTS)('OpenAI’s client, %s', (mount) => {
  const says = (...pieces: string[]) =>
    mounted(mount, {
      task: 'chat',
      async run(_input, { onDelta, onUsage }) {
        for (const piece of pieces) onDelta?.({ text: piece });
        onUsage?.({ tokensIn: 3, tokensOut: 2, finish: ['length'] });
        return { role: 'assistant', content: pieces.join('') };
      },
    });

  test('a whole answer', async () => {
    const answer = await client(await says('a', 'b')).chat.completions.create(chat);
    expect(answer).toMatchObject({
      object: 'chat.completion',
      model: 'test/model',
      choices: [{ message: { role: 'assistant', content: 'ab' }, finish_reason: 'length' }],
      usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
    });
  });

  test('a stream', async () => {
    const stream = client(await says('a', 'b')).chat.completions.stream({
      ...chat,
      stream_options: { include_usage: true },
    });
    const answer = await stream.finalChatCompletion();
    expect(answer.choices[0]!.message.content).toBe('ab');
    expect(answer.choices[0]!.finish_reason).toBe('length');
    expect(answer.usage?.total_tokens).toBe(5);
  });

  test('embeddings', async () => {
    const base = await mounted(mount, {
      task: 'feature-extraction',
      async run(input, { onUsage }) {
        onUsage?.({ tokensIn: 1 });
        return [(input as unknown as { text: string }).text.length, 0.5];
      },
    });
    const { data, usage } = await client(base).embeddings.create({
      model: 'test/model',
      input: ['a', 'bcd'],
    });
    expect(data.map(({ embedding }) => embedding)).toEqual([
      [1, 0.5],
      [3, 0.5],
    ]);
    expect(usage.total_tokens).toBe(2);
  });

  test('the models', async () => {
    const base = await says();
    expect((await client(base).models.list()).data).toMatchObject([{ id: 'test/model' }]);
    expect(await client(base).models.retrieve('test/model')).toMatchObject({ id: 'test/model' });
    await expect(client(base).models.retrieve('other')).rejects.toMatchObject({ status: 404 });
  });

  test.each([
    ['POST', 'v1/chat/completions', { ...chat, messages: [] }, 400],
    ['POST', 'v1/chat/completions', '{', 400],
    ['POST', 'v1/nothing', {}, 404],
    ['GET', 'v1/chat/completions', undefined, 405],
    ['POST', 'v1/embeddings', { model: 'test/model', input: 'x' }, 400],
  ])('%s %s %j is refused in OpenAI’s shape', async (method, path, body, status) => {
    const answer = await fetch(`${await says()}/${path}`, {
      method,
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const { error } = (await answer.json()) as { error: object };
    expect([answer.status, Object.keys(error).sort()]).toEqual([
      status,
      ['code', 'message', 'param', 'type'],
    ]);
  });

  test('a failure in the middle of a stream reaches the client', async () => {
    const base = await mounted(mount, {
      task: 'chat',
      async run(_input, { onDelta }) {
        onDelta?.({ text: 'a' });
        await new Promise((resolve) => setTimeout(resolve, 20));
        throw new RunError('engine_crashed', 'it died');
      },
    });
    await expect(client(base).chat.completions.stream(chat).finalChatCompletion()).rejects.toThrow();
  });

  test.each([
    ['authorization', `Bearer ${secret}`],
    ['x-api-key', secret],
    ['api-key', secret],
  ])('a key in %s, and a slash at the end', async (name, value) => {
    const answer = await fetch(`${await says()}/v1/models/`, { headers: { [name]: value } });
    expect(answer.status).toBe(200);
  });
});

describe('a container', () => {
  test.each(['gpt-4o', 'http://host/v1', undefined])('takes any name of the model: %s', async (model) => {
    const base = await mounted('container', { task: 'chat', run: async () => ({ content: 'a' }) });
    const answer = await fetch(`${base}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...chat, model }),
    });
    expect([answer.status, ((await answer.json()) as { model: string }).model]).toEqual([200, 'test/model']);
  });

  test('that wants the key refuses in the shape of the route', async () => {
    const base = await mounted('container', { task: 'chat', requiredKey: 'k' });
    const answer = await fetch(`${base}/v1/models`);
    expect([answer.status, await answer.json()]).toEqual([
      401,
      { error: expect.objectContaining({ code: 'invalid_api_key' }) },
    ]);
    expect((await fetch(`${base}/v1/models`, { headers: { 'x-api-key': 'k' } })).status).toBe(200);
  });

  test('work of a caller who leaves is cancelled', async () => {
    let cancelled: () => void;
    const ended = new Promise<void>((resolve) => (cancelled = resolve));
    const base = await mounted('container', {
      task: 'chat',
      run: (_input, { signal, onDelta }) =>
        new Promise((_resolve, reject) => {
          onDelta?.({ text: 'a' });
          signal.addEventListener('abort', () => {
            cancelled();
            reject(signal.reason as Error);
          });
        }),
    });
    const stream = await client(base).chat.completions.create({ ...chat, stream: true });
    for await (const _ of stream) break;
    await ended;
  });
});

test('no two routes of all dialects have the same method and path', () => {
  const routes = DIALECTS.flatMap(({ routes: all }) => all.map(({ method, path }) => `${method} ${path}`));
  expect(new Set(routes).size).toBe(routes.length);
  expect(DIALECTS.at(-1)).toBe(openAi);
});
