import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { connect } from 'node:net';
import { closeServers, gateway, JSON_TYPE, record, secret } from '../fakes/gateway.js';
import { waitFor } from '../fakes/server.js';

afterEach(closeServers);

const echo: RequestListener = (request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const output = { path: request.url, headers: request.headers, body: Buffer.concat(chunks).toString() };
    response.setHeader('Content-Type', JSON_TYPE);
    response.end(JSON.stringify({ error: null, output }));
  });
};

const call = (url: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(url, {
    method: 'POST',
    headers: { authorization: secret, 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

describe('who may call', () => {
  test.each([secret, `Key ${secret}`, `Bearer ${secret}`, `key   ${secret} `, `BEARER ${secret}`])(
    'the key in any of its forms: %#',
    async (authorization) => {
      const answer = await fetch(`${await gateway()}/list/tasks`, { headers: { authorization } });
      expect(answer.status).toBe(200);
    },
  );

  test.each([undefined, '', 'Key', 'Key wrong', `Token ${secret}`, record.hash])(
    'nobody else: %#',
    async (authorization) => {
      const answer = await fetch(`${await gateway()}/list/tasks`, {
        headers: authorization === undefined ? {} : { authorization },
      });
      expect([answer.status, answer.headers.get('content-type')]).toEqual([401, JSON_TYPE]);
      expect(await answer.json()).toEqual({ error: 'Unauthorized', output: null });
    },
  );

  test('no more often than the limit says', async () => {
    const base = await gateway({ limits: { calls: 2 } });
    const statuses = [];
    for (let i = 0; i < 3; i++) statuses.push(await call(`${base}/no/such`, {}));
    expect(statuses.map(({ status }) => status)).toEqual([404, 404, 429]);
    expect(await statuses[2]!.json()).toEqual({ error: 'Rate limit exceeded', output: null });
    expect(Number(statuses[2]!.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  test('no more at a time than the cap says; a place is free when its call has ended', async () => {
    let answer!: () => void;
    const container: RequestListener = (request, response) => {
      request.resume();
      answer = () => response.setHeader('Content-Type', JSON_TYPE).end('{"error":null,"output":"done"}');
    };
    const base = await gateway({ container, limits: { concurrent: 1 } });
    const first = call(`${base}/org/name`, { text: 'x' });
    await waitFor(() => answer !== undefined);
    expect((await call(`${base}/org/name`, { text: 'x' })).status).toBe(429);
    answer();
    expect((await first).status).toBe(200);
    expect((await fetch(`${base}/list/tasks`, { headers: { authorization: secret } })).status).toBe(200);
  });
});

describe('the list', () => {
  const models = [
    { modelId: 'b/two', task: 'chat' as const },
    { modelId: 'a/one', task: 'fill-mask' as const, params: null },
  ];
  const list = async (query = '') => {
    const answer = await fetch(`${await gateway({ models })}/list/models${query}`, {
      headers: { authorization: secret },
    });
    return {
      status: answer.status,
      ...((await answer.json()) as { error: string | null; output: { modelId: string }[] }),
    };
  };

  test('rows as the interface has them, in order', async () => {
    expect((await list()).output).toEqual([
      {
        meter: 'micro',
        meterPrice: '0.00053440 / sec',
        modelId: 'a/one',
        params: null,
        ramRequired: 1,
        task: 'fill-mask',
      },
      {
        meter: 'micro-lm',
        meterPrice: '0.0000872083 / sec',
        modelId: 'b/two',
        params: 0.1,
        ramRequired: 1,
        task: 'chat',
      },
    ]);
  });

  test.each([
    ['?task=chat', ['b/two']],
    ['?modelId=a/one', ['a/one']],
    ['?modelId=a%2Fone', ['a/one']],
    ['?modelId=A/one', []],
    ['?task=fill-mask?modelId=a/one', ['a/one']],
    ['?task=chat?modelId=a/one', []],
    ['?task=', ['a/one', 'b/two']],
  ])('filtered: %s', async (query, ids) => {
    expect((await list(query)).output.map(({ modelId }) => modelId)).toEqual(ids);
  });

  test('a task that is none is a 400', async () => {
    expect(await list('?task=cooking')).toMatchObject({ status: 400, output: null });
  });
});

describe('a call', () => {
  test('reaches the container as it came, without the key, and its answer says what it cost', async () => {
    const base = await gateway({ container: echo });
    const body = '{"text": "Zür\\u0069ch",  "params": {"max_new_tokens": 3}}';
    const answer = await call(`${base}/org/name`, body, { lang: 'python', cookie: 'a=b' });
    const { output } = (await answer.json()) as {
      output: { path: string; headers: Record<string, string>; body: string };
    };
    expect(output).toMatchObject({ path: '/run', body });
    expect(output.headers).toMatchObject({ lang: 'python' });
    expect(JSON.stringify(output.headers)).not.toContain(secret);
    expect(output.headers).not.toHaveProperty('cookie');
    expect(answer.headers.get('content-type')).toBe(JSON_TYPE);
    expect(answer.headers.get('inference-meter')).toBe('micro-lm');
    expect(answer.headers.get('inference-meter-price')).toBe('0.0000872083 / sec');
    expect(answer.headers.get('inference-time')).toMatch(/^\d+\.\d{3}$/);
    expect(Number(answer.headers.get('inference-cost'))).toBeGreaterThanOrEqual(0);
  });

  test.each([
    ['{"text": 3}', /text/],
    ['{"text": "x", "params": {"nope": 1}}', /params\.nope: unknown parameter/],
    ['{"something": "else"}', /text: is required/],
    ['[', /not valid JSON/],
  ])('%s is refused before any container is asked', async (body, told) => {
    // There is no container: asking it would be a 503.
    const answer = await call(`${await gateway()}/org/name`, body);
    expect(answer.status).toBe(400);
    expect((await answer.json()) as object).toEqual({ error: expect.stringMatching(told), output: null });
  });

  test.each([
    'org/other',
    'ORG/name',
    'org/name/more',
    'org',
    'org%2Fname',
    '..%2forg/name',
    'org/na%6De',
    'openai/v1',
    'list/name',
  ])('%s is no model', async (id) => {
    const answer = await call(`${await gateway({ container: echo })}/${id}`, { text: 'x' });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([404, JSON_TYPE]);
  });

  test('another method is a 405 that says which', async () => {
    const answer = await fetch(`${await gateway()}/org/name`, { headers: { authorization: secret } });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST']);
  });

  test('a container that does not answer is a 503', async () => {
    const answer = await call(`${await gateway()}/org/name`, { text: 'x' });
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await answer.json()).toEqual({ error: 'the model does not answer; try again', output: null });
  });

  test('what a container refuses is passed on', async () => {
    const container: RequestListener = (request, response) => {
      request.resume();
      response.writeHead(422, { 'content-type': JSON_TYPE }).end('{"error":"too long","output":null}');
    };
    const answer = await call(`${await gateway({ container })}/org/name`, { text: 'x' });
    expect([answer.status, await answer.json()]).toEqual([422, { error: 'too long', output: null }]);
  });

  test('a stream comes piece by piece', async () => {
    let write!: (text: string | undefined) => void;
    const container: RequestListener = (request, response) => {
      request.resume();
      response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' });
      write = (text) => void (text === undefined ? response.end() : response.write(text));
      write('one');
    };
    const answer = await call(`${await gateway({ container })}/org/name`, { text: 'x', stream: true });
    const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
    for (const piece of ['one', 'two', 'three']) {
      expect((await reader.read()).value).toBe(piece);
      write(piece === 'one' ? 'two' : piece === 'two' ? 'three' : undefined);
    }
    expect((await reader.read()).done).toBe(true);
  });

  test('a container that dies in the middle of a stream cuts the caller’s connection', async () => {
    const container: RequestListener = (request, response) => {
      request.resume();
      response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' });
      response.write('one', () => setTimeout(() => response.destroy(), 20));
    };
    const answer = await call(`${await gateway({ container })}/org/name`, { text: 'x', stream: true });
    await expect(answer.text()).rejects.toThrow();
  });

  test('a caller who leaves ends the container’s work', async () => {
    let left = false;
    const container: RequestListener = (request, response) => {
      request.resume();
      response.once('close', () => (left = true));
      response.writeHead(200, { 'content-type': 'text/plain' }).write('one');
    };
    const base = new URL(`${await gateway({ container })}/org/name`);
    const socket = connect(Number(base.port), base.hostname);
    const body = '{"text":"x","stream":true}';
    socket.write(
      `POST ${base.pathname} HTTP/1.1\r\nHost: x\r\nAuthorization: ${secret}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await once(socket, 'data');
    expect(left).toBe(false);
    socket.destroy();
    await waitFor(() => left);
  });
});
