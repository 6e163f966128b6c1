import type { RequestListener } from 'node:http';
import OpenAI, { type APIError, RateLimitError } from 'openai';
import { TASK_IDS } from '../../runtime/core/task-ids.js';
import type { LimitOptions } from '../../gateway/limits/bucket.js';
import { closeServers, gateway, JSON_TYPE, secret as KEY } from '../fakes/gateway.js';
import { waitFor } from '../fakes/server.js';

afterEach(closeServers);

/** Models org/<task> of every task, all answered by one container; gives the address of the dialect. */
async function dialect(
  container: RequestListener = refuses,
  limits?: Partial<LimitOptions>,
): Promise<string> {
  const models = TASK_IDS.map((task) => ({ modelId: `org/${task}`, task }));
  return `${await gateway({ container, models, ...(limits ? { limits } : {}) })}/openai/v1`;
}

const clientOf = (baseURL: string, apiKey = KEY) => new OpenAI({ apiKey, baseURL, maxRetries: 0 });

/** Nobody may ask it: what it is asked is a 500. */
const refuses: RequestListener = (request, response) => {
  request.resume();
  response.writeHead(500, { 'content-type': JSON_TYPE }).end('{"error":"was asked","output":null}');
};

const events =
  (end: (write: (text: string) => void, close: () => void) => void): RequestListener =>
  (request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    response.write('data: {"text":"one"}\n\n');
    end(
      (text) => response.end(text),
      () => response.destroy(),
    );
  };

const chat = { model: 'org/chat', messages: [{ role: 'user' as const, content: 'hi' }] };
const completion = { model: 'org/text-generation', prompt: 'hi' };
const embedding = { model: 'org/sentence-similarity', input: 'hi' };

async function post(base: string, path: string, body: unknown, headers: Record<string, string> = {}) {
  const answer = await fetch(`${base}/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const { error } = (await answer.json()) as { error: Record<string, string | null> };
  return { status: answer.status, headers: answer.headers, error };
}

describe('errors have OpenAI’s shape', () => {
  test.each(['', 'Bearer wrong', 'Key'])('without a key: %j', async (authorization) => {
    const { status, error, headers } = await post(await dialect(), 'chat/completions', chat, {
      authorization,
    });
    expect([status, headers.get('content-type')]).toEqual([401, JSON_TYPE]);
    const shape = {
      message: 'Unauthorized',
      type: 'invalid_request_error',
      param: null,
      code: 'invalid_api_key',
    };
    expect(error).toEqual(shape);
  });

  test.each([KEY, `Key ${KEY}`, `bearer ${KEY}`])(
    'any form of the key is taken: %#',
    async (authorization) => {
      const answer = await fetch(`${await dialect()}/models`, { headers: { authorization } });
      expect([answer.status, ((await answer.json()) as { object: string }).object]).toEqual([200, 'list']);
    },
  );

  test('over the limit', async () => {
    const client = clientOf(await dialect(refuses, { calls: 1 }));
    await client.models.list();
    const error = await client.models.list().catch((thrown: unknown) => thrown as APIError);
    expect(error).toBeInstanceOf(RateLimitError);
    expect(error).toMatchObject({ code: 'rate_limit_exceeded', message: '429 Rate limit exceeded' });
    expect(Number((error as APIError).headers!.get('retry-after'))).toBeGreaterThan(0);
  });

  test.each([
    ['POST', 'nothing', 404, null],
    ['GET', 'chat/completions', 405, 'POST'],
    ['POST', 'models', 405, 'GET, HEAD'],
    ['DELETE', 'models/org/chat', 405, 'GET, HEAD'],
    ['GET', 'models/org%2F%2E%2E', 404, null],
    ['GET', 'models/org%2fchat%2fmore', 404, null],
  ])('%s %s is a %d', async (method, path, status, allow) => {
    const answer = await fetch(`${await dialect()}/${path}`, { method, headers: { authorization: KEY } });
    const { error } = (await answer.json()) as { error: object };
    expect([answer.status, answer.headers.get('allow')]).toEqual([status, allow]);
    expect(error).toMatchObject({ message: expect.any(String), type: 'invalid_request_error' });
  });

  test('an unknown model', async () => {
    const { status, error } = await post(await dialect(), 'embeddings', { ...embedding, model: 'org/none' });
    expect(status).toBe(404);
    expect(error).toMatchObject({ code: 'model_not_found', param: 'model' });
  });

  test.each([
    ['chat/completions', { ...chat, modalities: ['text', 'audio'] }, 'modalities.1'],
    ['chat/completions', { ...chat, audio: { voice: 'x' } }, 'audio'],
    ['chat/completions', { ...chat, top_logprobs: 2 }, 'top_logprobs'],
    ['chat/completions', { ...chat, logprobs: true, top_logprobs: 21 }, 'top_logprobs'],
    ['chat/completions', { ...chat, max_tokens: 3, max_completion_tokens: 4 }, 'max_completion_tokens'],
    ['chat/completions', { ...chat, max_tokens: 0 }, 'max_tokens'],
    ['chat/completions', { ...chat, temperature: 0, n: 2 }, 'n'],
    ['chat/completions', { ...chat, seed: -2 }, 'seed'],
    ['chat/completions', { ...chat, logit_bias: { a: 1 } }, 'logit_bias.a'],
    ['chat/completions', { ...chat, stream_options: { include_usage: true } }, 'stream_options'],
    ['chat/completions', { ...chat, no_such: 1 }, 'no_such'],
    ['chat/completions', { ...chat, constructor: 1 }, 'constructor'],
    ['chat/completions', { ...chat, messages: [] }, 'messages'],
    ['chat/completions', { ...chat, messages: [{ role: 'user' }] }, 'messages.0.content'],
    [
      'chat/completions',
      {
        ...chat,
        messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'http://x/y.png' } }] }],
      },
      'messages.0.content.0.type',
    ],
    ['chat/completions', { messages: chat.messages }, 'model'],
    ['completions', { ...completion, prompt: [1, -2] }, 'prompt.1'],
    ['completions', { ...completion, prompt: [[]] }, 'prompt.0'],
    ['completions', { ...completion, prompt: ['a', 1] }, 'prompt.1'],
    ['completions', { ...completion, prompt: 7 }, 'prompt'],
    ['completions', { ...completion, suffix: 'x' }, 'suffix'],
    ['completions', { ...completion, best_of: 2 }, 'best_of'],
    ['completions', { ...completion, echo: true, logprobs: 21 }, 'logprobs'],
    ['completions', { ...completion, max_tokens: 0, n: 2 }, 'n'],
    ['completions', { ...completion, prompt_logprobs: 1, stream: true }, 'prompt_logprobs'],
    ['embeddings', { ...embedding, input: [[1, 2]] }, 'input.0'],
    ['embeddings', { ...embedding, input: [] }, 'input'],
    ['embeddings', { ...embedding, encoding_format: 'hex' }, 'encoding_format'],
  ])('%s %j is refused by name, before any model is asked', async (path, body, param) => {
    const { status, error } = await post(await dialect(), path, body);
    expect({ status, ...error }).toEqual({
      ...{ status: 400, param, code: null, type: 'invalid_request_error' },
      message: expect.stringContaining(`${param}: `),
    });
  });

  test.each(['[', '[]', '"x"', 'null'])('%s is no body', async (body) => {
    expect(await post(await dialect(), 'completions', body)).toMatchObject({
      status: 400,
      error: { param: null },
    });
  });

  test.each(['user', 'metadata', 'store', 'service_tier', 'safety_identifier', 'prompt_cache_key'])(
    '%s changes nothing',
    async (name) => {
      const value = { metadata: { a: 'b' }, store: true }[name] ?? 'x';
      const { error } = await post(await dialect(), 'chat/completions', { ...chat, [name]: value });
      expect(error['message']).toBe('was asked');
    },
  );

  test('what a container refuses keeps its status and its time to come back', async () => {
    const base = await dialect((request, response) => {
      request.resume();
      response.writeHead(503, { 'content-type': JSON_TYPE, 'retry-after': '7' });
      response.end('{"error":"not yet","output":null}');
    });
    for (const stream of [false, true]) {
      const { status, error, headers } = await post(base, 'chat/completions', { ...chat, stream });
      expect([status, headers.get('retry-after')]).toEqual([503, '7']);
      expect(error).toEqual({ message: 'not yet', type: 'server_error', param: null, code: null });
    }
  });

  test('parameters have OpenAI’s names in them', async () => {
    const base = await dialect((request, response) => {
      request.resume();
      response.writeHead(422, { 'content-type': JSON_TYPE });
      response.end('{"error":"params.num_return_sequences: too many","output":null}');
    });
    const { status, error } = await post(base, 'chat/completions', chat);
    expect([status, error['param'], error['message']]).toEqual([422, 'n', 'n: too many']);
  });
});

describe('a stream that does not end well', () => {
  const ask = async (base: string) => {
    const said: string[] = [];
    const stream = await clientOf(base).chat.completions.create({ ...chat, stream: true });
    const read = async () => {
      for await (const { choices } of stream) said.push(choices[0]!.delta.content ?? '');
    };
    return {
      said,
      error: await read().then(
        () => undefined,
        (thrown: unknown) => thrown as Error,
      ),
    };
  };

  test('throws with the reason that the container gave', async () => {
    const base = await dialect(
      events((write) => write('event: error\ndata: {"error":"the process ended"}\n\n')),
    );
    const { said, error } = await ask(base);
    expect(said.join('')).toBe('one');
    expect(error).toMatchObject({ error: { message: 'the process ended', type: 'server_error' } });
  });

  test('throws when the container is cut off', async () => {
    const { error } = await ask(await dialect(events((_write, close) => setTimeout(close, 20))));
    expect(error).toMatchObject({ error: { type: 'server_error' } });
  });

  test('throws when the container ends without its last event', async () => {
    const { error } = await ask(await dialect(events((write) => write(''))));
    expect(error).toMatchObject({ error: { message: 'the answer broke off; try again' } });
  });

  test.each([true, false])(
    'ends the container’s work when its reader leaves (stream: %s)',
    async (stream) => {
      let asked = false;
      let left = false;
      const base = await dialect((request, response) => {
        request.resume();
        asked = true;
        response.once('close', () => (left = true));
        if (stream)
          response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: {"text":"a"}\n\n');
      });
      const leaving = new AbortController();
      const call = clientOf(base).chat.completions.create({ ...chat, stream }, { signal: leaving.signal });
      const failed = stream ? call.then(() => undefined) : call.catch((error: Error) => error.message);
      await waitFor(() => asked);
      if (stream) await failed;
      expect(left).toBe(false);
      leaving.abort();
      await waitFor(() => left);
      await failed;
    },
  );
});

test('one of several texts that fails ends the others', async () => {
  const left: string[] = [];
  const base = await dialect(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { text } = JSON.parse(Buffer.concat(chunks).toString()) as { text: string };
    response.once('close', () => left.push(text));
    if (text !== 'bad') return;
    response.writeHead(422, { 'content-type': JSON_TYPE }).end('{"error":"text: too long","output":null}');
  });
  const { status, error } = await post(base, 'embeddings', { ...embedding, input: ['good', 'bad', 'fine'] });
  expect([status, error['message']]).toEqual([422, 'input: too long']);
  await waitFor(() => left.length === 3);
});

test('a body that is too large', async () => {
  const { status, error } = await post(await dialect(), 'completions', {
    ...completion,
    prompt: 'x'.repeat(2 ** 20),
  });
  expect([status, error['type']]).toEqual([413, 'invalid_request_error']);
});

test('costs are told as on every call', async () => {
  const base = await dialect((request, response) => {
    request.resume();
    response.setHeader('Content-Type', JSON_TYPE).end('{"error":null,"output":"text"}');
  });
  const { response, data } = await clientOf(base).completions.create(completion).withResponse();
  expect(data.choices[0]!.text).toBe('text');
  expect(response.headers.get('inference-meter')).toBe('micro-lm');
  expect(Number(response.headers.get('inference-cost'))).toBeGreaterThanOrEqual(0);
});
