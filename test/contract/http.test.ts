import { encodedJson, encodeRows } from '../../runtime/core/encoded-json.js';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import request from 'supertest';
import { RunError } from '../../runtime/core/errors.js';
import type { FetchMedia } from '../../runtime/media/fetch-media.js';
import type { ModelService, ServiceStatus } from '../../runtime/http/service.js';
import { fakeApp } from '../fakes/app.js';

const JSON_TYPE = 'application/json; charset=utf-8';

/** A model that answers what the test wants. */
function service(run: ModelService['run'], status: ServiceStatus = { state: 'ready', details: {} }) {
  return fakeApp({ task: 'text-classification', run, status: () => status });
}

const answers = service(async () => [{ label: 'joy', score: 0.5 }]);

describe('the envelope', () => {
  test('an output that is JSON already goes out as it is', async () => {
    const output = encodedJson(['{"masks":', encodeRows(Uint8Array.of(0, 1, 1, 0), 2), '}']);
    const response = await request(service(async () => output))
      .post('/run')
      .send({ text: 'x' });
    expect(response.text).toBe('{"error":null,"output":{"masks":[[0,1],[1,0]]}}');
    expect(response.headers).toMatchObject({ 'content-type': JSON_TYPE, 'content-length': '47' });
  });

  test('a good answer has both keys and the exact content type', async () => {
    const response = await request(answers).post('/run').send({ text: 'x' });
    expect(response.status).toBe(200);
    expect(response.headers['content-type']).toBe(JSON_TYPE);
    expect(response.body).toEqual({ error: null, output: [{ label: 'joy', score: 0.5 }] });
  });

  test.each([
    ['a broken body', 'post', '/run', '{"text":', 400, /not valid JSON/],
    ['an empty body', 'post', '/run', '{}', 400, /^text: is required/],
    ['unknown keys only', 'post', '/run', '{"foo":1,"bar":2}', 400, /^text: is required/],
    ['a wrong type', 'post', '/run', '{"text":5}', 400, /^text: .*expected string, received number/],
    ['null for an input', 'post', '/run', '{"text":null}', 400, /^text: is required/],
    ['an array', 'post', '/run', '[1]', 400, /must be a JSON object/],
    ['a bare string', 'post', '/run', '"x"', 400, /must be a JSON object/],
    ['null', 'post', '/run', 'null', 400, /must be a JSON object|is required/],
    ['a wrong stream flag', 'post', '/run', '{"text":"x","stream":"yes"}', 400, /^stream: /],
    ['an unknown parameter', 'post', '/run', '{"text":"x","params":{"foo":1}}', 400, /^params\.foo: unknown/],
    [
      'a parameter of the wrong type',
      'post',
      '/run',
      '{"text":"x","params":{"top_k":"a"}}',
      400,
      /^params\.top_k: /,
    ],
    [
      'a parameter out of range',
      'post',
      '/run',
      '{"text":"x","params":{"top_k":0}}',
      400,
      /^params\.top_k: /,
    ],
    ['params that are no object', 'post', '/run', '{"text":"x","params":[]}', 400, /^params: /],
    [
      '__proto__ in params',
      'post',
      '/run',
      '{"text":"x","params":{"__proto__":{"top_k":1}}}',
      400,
      /__proto__/,
    ],
    ['__proto__ instead of a body', 'post', '/run', '{"__proto__":{"text":"x"}}', 400, /^text: is required/],
    ['an unknown route', 'get', '/nowhere', '', 404, /no such route/],
    ['the place of the playground', 'get', '/', '', 404, /no such route/],
    ['an unknown route with POST', 'post', '/runs', '{}', 404, /no such route/],
    ['a slash too many', 'post', '/run/', '{"text":"x"}', 404, /no such route/],
    ['capitals', 'post', '/RUN', '{"text":"x"}', 404, /no such route/],
    ['capitals of a status page', 'get', '/Health', '', 404, /no such route/],
    ['a wrong method', 'get', '/run', '', 405, /not allowed/],
    ['a question about a route', 'options', '/health', '', 405, /not allowed/],
    ['a question about the model', 'options', '/run', '', 405, /not allowed/],
    ['a wrong method on health', 'delete', '/health', '', 405, /not allowed/],
  ] as const)('%s', async (_name, method, path, body, status, message) => {
    const call = request(answers)[method](path);
    const response = await (body === '' ? call : call.set('content-type', 'application/json').send(body));
    expect(response.status).toBe(status);
    expect(response.headers['content-type']).toBe(JSON_TYPE);
    expect(response.body).toEqual({ error: expect.stringMatching(message), output: null });
  });

  test('405 says what is allowed', async () => {
    expect((await request(answers).put('/run')).headers['allow']).toBe('POST');
    expect((await request(answers).post('/health')).headers['allow']).toBe('GET, HEAD');
  });

  test.each(['messages.0.extra', 'params.tools.0.deep', 'params.chat_template_kwargs.deep'])(
    'a body whose %s has no end is a 400',
    async (path) => {
      const app = fakeApp({ task: 'chat', run: async () => null });
      const body = {
        messages: [{ role: 'user', content: 'x' }],
        params: { tools: [{}], chat_template_kwargs: {} },
      };
      const deep = `${'['.repeat(5000)}${']'.repeat(5000)}`;
      const keys = path.split('.');
      const last = keys.pop()!;
      const parent = keys.reduce(
        (value, key) => value[key] as Record<string, unknown>,
        body as Record<string, unknown>,
      );
      parent[last] = '@';
      const response = await request(app)
        .post('/run')
        .set('content-type', 'application/json')
        .send(JSON.stringify(body).replace('"@"', deep));
      expect([response.status, response.body]).toEqual([
        400,
        { error: expect.stringMatching(/more than 100 levels/), output: null },
      ]);
    },
  );

  test('bodies under way that hold too much are a 503, and are forgotten when answered', async () => {
    const { run, begun, finish } = waitingModel();
    const app = fakeApp({ task: 'text-classification', maxPendingBytes: 300, run });
    const send = () =>
      request(app)
        .post('/run')
        .send({ text: 'x'.repeat(200) });
    const waiting = send().then((response) => response);
    await begun;
    const refused = await send();
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '2']);
    expect(refused.body.error).toMatch(/MAX_PENDING_BYTES/);
    const packed = request(app)
      .post('/run')
      .set('content-type', 'application/json')
      .set('content-encoding', 'gzip');
    const bomb = gzipSync(`{"text":"${'x'.repeat(500)}"}`);
    expect((await packed.serialize(raw).send(bomb)).status).toBe(503);
    finish();
    expect((await waiting).status).toBe(200);
    expect((await send()).status).toBe(200);
  });

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', 'text/json'])(
    'content type %s is a 415',
    async (type) => {
      const response = await request(answers).post('/run').set('content-type', type).send('{"text":"x"}');
      expect(response.status).toBe(415);
      expect(response.body).toEqual({ error: expect.stringMatching(/application\/json/), output: null });
    },
  );

  test.each(['application/json', 'application/json; charset=utf-8', 'application/vnd.api+json'])(
    'content type %s is taken',
    async (type) => {
      const response = await request(answers).post('/run').set('content-type', type).send('{"text":"x"}');
      expect(response.status).toBe(200);
    },
  );

  test('a body over the limit is a 413 that names the variable', async () => {
    const app = fakeApp({ task: 'text-classification', maxBodyBytes: 100 });
    const response = await request(app)
      .post('/run')
      .send({ text: 'x'.repeat(200) });
    expect(response.status).toBe(413);
    expect(response.body).toEqual({
      error: expect.stringMatching(/100 bytes \(MAX_BODY_BYTES\)/),
      output: null,
    });
  });

  test.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ] as const)('a body may be compressed with %s, within the limit', async (encoding, compress) => {
    const app = fakeApp({ task: 'text-classification', maxBodyBytes: 1000, run: async () => [] });
    const send = (body: Buffer) => {
      const call = request(app).post('/run').set('content-type', 'application/json');
      return call.set('content-encoding', encoding).serialize(raw).send(body);
    };
    expect((await send(compress('{"text":"x"}'))).status).toBe(200);
    expect((await send(compress(`{"text":"${'x'.repeat(1e6)}"}`))).status).toBe(413);
    expect((await send(Buffer.from('{"text":"x"}'))).body.error).toBe(`the body is not valid ${encoding}`);
    expect((await send(compress('{"text":"xxxxxxxxxxxx"}').subarray(0, 12))).status).toBe(400);
  });

  test.each([
    [{ 'content-encoding': 'zstd' }, /gzip, deflate or br/],
    [{ 'content-encoding': 'constructor' }, /gzip, deflate or br/],
    [{ 'content-type': 'application/json; charset=latin1' }, /must be UTF-8/],
  ])('%j is a 415', async (headers, message) => {
    const call = request(answers).post('/run').set('content-type', 'application/json').set(headers);
    const response = await call.serialize(raw).send('{"text":"x"}');
    expect([response.status, response.body]).toEqual([
      415,
      { error: expect.stringMatching(message), output: null },
    ]);
  });

  test('bytes that are no UTF-8 are a 400', async () => {
    const call = request(answers).post('/run').set('content-type', 'application/json');
    const body = Buffer.from([...Buffer.from('{"text":"'), 0xff, ...Buffer.from('"}')]);
    const response = await call.serialize(raw).send(body);
    expect([response.status, response.body.error]).toEqual([400, 'the body is not valid JSON in UTF-8']);
  });

  test('unknown keys beside a good input are ignored', async () => {
    const response = await request(answers)
      .post('/run')
      .send({ text: 'x', foo: 1, json: false, params: null });
    expect(response.status).toBe(200);
  });
});

test('fetched media count as held while they come', async () => {
  const fetchMedia: FetchMedia = async (url, _signal, onBytes) => {
    onBytes?.(url.endsWith('large') ? 1000 : 10);
    return Buffer.from(taskImage(), 'base64');
  };
  const { run, begun, finish } = waitingModel();
  const app = fakeApp({ task: 'image-classification', fetchMedia, run, maxPendingBytes: 500 });
  const send = (url: string) => request(app).post('/run').send({ url });
  const first = send('http://example.com/small').then((response) => response);
  await begun;
  const refused = await send('http://example.com/large');
  expect([refused.status, refused.body.error]).toEqual([503, expect.stringMatching(/MAX_PENDING_BYTES/)]);
  finish();
  expect((await first).status).toBe(200);
});

describe('errors of the model', () => {
  test.each([
    ['overloaded', 503, '2'],
    ['engine_crashed', 503, '2'],
    ['not_ready', 503, '2'],
    ['timeout', 504, undefined],
    ['unprocessable', 422, undefined],
  ] as const)('%s is a %d', async (code, status, retryAfter) => {
    const options = retryAfter === undefined ? {} : { retryAfter: Number(retryAfter) };
    const app = service(async () => {
      throw new RunError(code, 'the reason', options);
    });
    const response = await request(app).post('/run').send({ text: 'x' });
    expect(response.status).toBe(status);
    expect(response.headers['retry-after']).toBe(retryAfter);
    expect(response.body).toEqual({ error: 'the reason', output: null });
  });

  test('an unforeseen error shows nothing but a request id', async () => {
    const app = service(async () => {
      throw new Error('secret path /server/model/x');
    });
    const response = await request(app).post('/run').send({ text: 'x' });
    expect(response.status).toBe(500);
    expect(response.body.error).toContain(response.headers['x-request-id']);
    expect(response.text).not.toContain('secret');
    expect(response.text).not.toContain('at ');
  });
});

describe('health', () => {
  test('ready', async () => {
    const response = await request(answers).get('/health');
    expect([response.status, response.body]).toEqual([200, { error: null, output: 'ready' }]);
  });

  test.each([
    [{ state: 'downloading', progress: 0.456, details: {} }, 'downloading: 45 %'],
    [{ state: 'loading', progress: 0.25, details: {} }, 'loading: 25 %'],
    [{ state: 'failed', reason: 'the gate is closed', details: {} }, 'failed: the gate is closed'],
    [{ state: 'draining', details: {} }, 'draining'],
  ] as [ServiceStatus, string][])('not ready: %j', async (status, sentence) => {
    const app = service(async () => [], status);
    const response = await request(app).get('/health');
    expect([response.status, response.body]).toEqual([503, { error: sentence, output: null }]);
    expect((await request(app).get('/livez')).status).toBe(200);
  });

  test('status tells the state with its details', async () => {
    const app = service(async () => [], { state: 'ready', details: { model: 'a/b' } });
    const { body } = await request(app).get('/status');
    expect(body.output).toEqual({ state: 'ready', reason: null, progress: null, model: 'a/b' });
  });

  test('metrics count answers by status and code', async () => {
    await request(answers).post('/run').send({});
    const { text, headers } = await request(answers).get('/metrics');
    expect(headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(text).toMatch(/slipway_requests_total\{route="\/run",status="400",code="invalid_input"\} \d+/);
  });
});

describe('REQUIRE_KEY', () => {
  const app = fakeApp({ task: 'text-classification', requiredKey: 'K-1', run: async () => [] });

  test.each(['K-1', 'Key K-1', 'key K-1', 'Bearer K-1', '  bEaReR   K-1  '])('%j opens', async (header) => {
    expect((await request(app).post('/run').set('authorization', header).send({ text: 'x' })).status).toBe(
      200,
    );
  });

  test.each([undefined, '', 'K-2', 'Key', 'Basic K-1', 'Key K-1x'])('%j does not', async (header) => {
    const call = request(app).post('/run');
    const response = await (header === undefined ? call : call.set('authorization', header)).send({
      text: 'x',
    });
    expect([response.status, response.body]).toEqual([401, { error: 'Unauthorized', output: null }]);
  });

  test('the other routes stay open', async () => {
    expect((await request(app).get('/health')).status).toBe(200);
  });
});

describe('the input shorthand of the official clients', () => {
  const seen: unknown[] = [];
  const echo = (task: 'text-classification' | 'chat' | 'image-classification') =>
    fakeApp({
      task,
      run: async (input) => {
        seen.push(input);
        return [];
      },
    });

  test.each([
    ['text-classification', { input: 'hello' }, { text: 'hello' }],
    [
      'text-classification',
      { input: { text: 'a', params: { top_k: 2 } } },
      { text: 'a', params: { top_k: 2 } },
    ],
    ['text-classification', { input: { text: 'a' }, text: 'b' }, { text: 'b' }],
    ['text-classification', { input: 'a', text: null, stream: false, json: null }, { text: 'a' }],
    ['chat', { input: [{ role: 'user', content: 'hi' }] }, { messages: [{ role: 'user', content: 'hi' }] }],
    ['chat', { input: 'hi' }, { messages: [{ role: 'user', content: 'hi' }] }],
  ] as const)('%s %j', async (task, body, expected) => {
    expect((await request(echo(task)).post('/run').send(body)).status).toBe(200);
    expect(seen.at(-1)).toMatchObject(expected);
  });

  test.each([{ image: 5 }, { image: { url: 'x' } }])('an image that is no string: %j', async (body) => {
    const response = await request(echo('image-classification')).post('/run').send(body);
    expect([response.status, response.body]).toEqual([
      400,
      { error: 'image: must be a URL or a data URL', output: null },
    ]);
  });

  const png = `data:image/png;base64,${taskImage()}`;
  test.each([
    [{ input: png }],
    [{ image: png }],
    [{ input: { image: png } }],
    [{ base64: png }],
    [{ url: null, base64: png }],
  ])('an image under another name', async (body) => {
    expect((await request(echo('image-classification')).post('/run').send(body)).status).toBe(200);
    expect(seen.at(-1)).toMatchObject({ media: { mediaType: 'image/png' } });
  });
});

const unfinished: (() => void)[] = [];
afterEach(() => unfinished.splice(0).forEach((finish) => finish()));

/** A model that answers nobody until it is told to, at the end of the test at the latest. */
function waitingModel() {
  let begin: () => void;
  let answer: (output: unknown) => void;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const output = new Promise<unknown>((resolve) => (answer = resolve));
  const finish = () => answer([]);
  unfinished.push(finish);
  return { run: () => (begin(), output), begun, finish };
}

/** Keeps supertest from writing bytes as JSON. */
function raw(data: unknown): string {
  return data as string;
}

/** One grey pixel. */
function taskImage(): string {
  return 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==';
}
