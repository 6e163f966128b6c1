import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { createLogger } from '../../runtime/log.js';
import { closeServers, gateway, type GivenGateway, JSON_TYPE, secret } from '../fakes/gateway.js';
import { waitFor } from '../fakes/server.js';

/** What no well-meaning client would send, and what no server of ours would answer. */

afterEach(closeServers);

const done: RequestListener = (request, response) => {
  request.resume();
  request.once('end', () =>
    response.setHeader('Content-Type', JSON_TYPE).end('{"error":null,"output":"done"}'),
  );
};

interface Answer {
  status: number;
  head: string;
  body: string;
}

/** Sends bytes and collects what comes until the gateway closes the connection. */
async function exchange(base: string, bytes: string): Promise<string> {
  const { port, hostname } = new URL(base);
  const socket = connect(Number(port), hostname);
  let answer = '';
  socket.on('data', (chunk) => (answer += chunk.toString('latin1')));
  socket.on('error', () => {});
  socket.write(Buffer.from(bytes, 'latin1'));
  await once(socket, 'close');
  return answer;
}

function parsed(answer: string): Answer {
  const [head = '', ...rest] = answer.split('\r\n\r\n');
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1]), head, body: rest.join('\r\n\r\n') };
}

const HEAD = `Host: x\r\nAuthorization: Key ${secret}\r\nContent-Type: application/json\r\nConnection: close\r\n`;
const BODY = '{"text":"x"}';
const post = (target: string, head = HEAD, body = BODY) =>
  `POST ${target} HTTP/1.1\r\n${head}Content-Length: ${body.length}\r\n\r\n${body}`;

/** Every answer is the envelope with the exact content type, whatever was asked. */
async function ask(
  bytes: string,
  given: GivenGateway = { container: done },
): Promise<Answer & { error: string | null }> {
  const answer = parsed(await exchange(await gateway(given), bytes));
  expect(answer.head).toMatch(/\r\ncontent-type: application\/json; charset=utf-8(?:\r\n|$)/i);
  const envelope = JSON.parse(answer.body.replace(/^[\da-f]+\r\n|\r\n0\r\n\r\n$/g, '')) as {
    error: string | null;
  };
  expect(Object.keys(envelope)).toEqual(['error', 'output']);
  expect(answer.body).not.toContain(secret);
  return { ...answer, error: envelope.error };
}

describe('the path', () => {
  test.each([
    ...['org%2Fname', '%6Frg/name', 'org//name', '/org/name', 'org/name%00', 'org/name%20', 'org/name;v=1'],
    ...[
      './org/name',
      '../v2/org/name',
      'x/../org/name',
      '%2e%2e/v2/org/name',
      'org/..',
      'org/name/../name',
      '..%5corg/name',
    ],
    ...['ORG/NAME', 'org/%ff', 'org/%', 'org/name#x'],
    ...[
      '__proto__/constructor',
      'constructor/prototype',
      'toString',
      '',
      'list',
      'list/',
      'list/none',
      'list/models/x',
    ],
    ...['openai%2Fv1/models', `${'a'.repeat(5000)}/b`, 'org/name/run', 'org\\name', 'name'],
  ])('%j is no model', async (id) => {
    expect((await ask(post(`/models/v2/${id}`))).status).toBe(404);
  });

  test('one slash at the end is the address without it', async () => {
    expect(await ask(post('/models/v2/org/name/'))).toMatchObject({ status: 200, error: null });
    expect((await ask(post('/models/v2/org/name//'))).status).toBe(404);
  });

  test.each([
    '/models/v1/org/name',
    '/models/v2',
    '/MODELS/v2/org/name',
    '//models/v2/org/name',
    '/run',
    '/metrics',
  ])('%s is no route', async (target) => {
    expect((await ask(post(target))).status).toBe(404);
  });

  test.each([
    '/models/v2/org/name?x=../..',
    'http://elsewhere:99/models/v2/org/name',
    'HTTP://x/models/v2/org/name?a=b',
  ])('%s is the model', async (target) => {
    expect(await ask(post(target))).toMatchObject({ status: 200, error: null });
  });

  test.each([
    '/models/v2/org/na\x00me',
    '/models/v2/org/na me',
    'models/v2/org/name',
    'ftp:/models/v2/org/name',
    '/models/v2/\xf6rg/name',
    '/models/v2/org/name\xe2\x80\x8b',
  ])('%j is no address', async (target) => {
    expect([400, 404]).toContain((await ask(post(target))).status);
  });
});

describe('the list', () => {
  const list = (query: string) => ask(`GET /models/v2/list/models${query} HTTP/1.1\r\n${HEAD}\r\n`);

  test.each([
    ['?task=chat&task=fill-mask', 200],
    ['?task[]=chat', 200],
    ['?task=constructor', 400],
    ['?task=__proto__', 400],
    ['?__proto__[task]=x&constructor=y', 200],
    ['?modelId=%00', 200],
    ['?modelId=../../etc', 200],
    ['?task=%E0%A4', 400],
    ['?%', 200],
    [`?modelId=${'a'.repeat(8000)}`, 200],
    ['???task=chat???', 200],
    [`?${'a&'.repeat(4000)}`, 200],
  ])('%.40s is a %i', async (query, status) => {
    expect((await list(query)).status).toBe(status);
  });
});

describe('methods', () => {
  test.each([
    ['OPTIONS', '/models/v2/org/name', 405],
    ['OPTIONS', '*', 404],
    ['OPTIONS', '/livez', 405],
    ['POST', '/health', 405],
    ['DELETE', '/models/v2/list/models', 405],
    ['TRACE', '/models/v2/org/name', 405],
    ['PROPFIND', '/nowhere', 404],
  ])('%s %s is a %i', async (method, target, status) => {
    const answer = await ask(`${method} ${target} HTTP/1.1\r\n${HEAD}\r\n`);
    expect(answer.status).toBe(status);
    if (status === 405) expect(answer.head).toMatch(/\r\nallow: [A-Z, ]+\r\n/i);
  });

  test('HEAD is GET without a body', async () => {
    const base = await gateway({ container: done });
    const answer = parsed(await exchange(base, `HEAD /models/v2/list/models HTTP/1.1\r\n${HEAD}\r\n`));
    expect(answer).toMatchObject({ status: 200, body: '' });
    expect(parsed(await exchange(base, `HEAD /models/v2/org/name HTTP/1.1\r\n${HEAD}\r\n`))).toMatchObject({
      ...{ status: 405, body: '' },
    });
  });
});

describe('headers', () => {
  test.each([
    ['a long one', `A: ${'a'.repeat(20_000)}\r\n`, 431],
    ['too many', 'a: b\r\n'.repeat(20_000), 431],
    ['a folded one', 'X-A: b\r\n c\r\n', 400],
    ['a name with a space', 'X A: b\r\n', 400],
    ['a control character', 'lang: a\x01b\r\n', 400],
    ['a line feed alone', 'lang: a\nX-B: c\r\n', 400],
    ['two lengths', 'Content-Length: 5\r\n', 400],
    ['a length and chunks', 'Transfer-Encoding: chunked\r\n', 400],
    ['bytes of another alphabet', 'lang: \xff\xfe\r\naccept: \xe9\r\n', 200],
    ['a key behind the key', 'Authorization: Key other\r\n', 200],
    ['hop-by-hop names', 'TE: trailers\r\nKeep-Alive: x\r\nProxy-Authorization: y\r\nUpgrade: z\r\n', 200],
  ])('%s', async (_, extra, status) => {
    expect((await ask(post('/models/v2/org/name', HEAD + extra))).status).toBe(status);
  });

  test.each([
    'Key',
    'Bearer ',
    `Key ${secret}x`,
    `${secret} ${secret}`,
    `Basic ${secret}`,
    'x'.repeat(15_000),
    '\xff',
  ])('Authorization %.20j is nobody', async (value) => {
    const head = `Host: x\r\nAuthorization: ${value}\r\nConnection: close\r\n`;
    expect(await ask(post('/models/v2/org/name', head))).toMatchObject({
      status: 401,
      error: 'Unauthorized',
    });
  });
});

describe('bodies', () => {
  test.each([
    ['no JSON', '{"text":', 400],
    ['no object', '"text"', 400],
    ['nothing but depth', `${'['.repeat(200_000)}${']'.repeat(200_000)}`, 400],
    ['depth in a field', `{"messages":${'['.repeat(200_000)}${']'.repeat(200_000)}}`, 400],
    ['names of prototypes', '{"__proto__":{"text":"x"},"constructor":{"prototype":{"text":"x"}}}', 400],
    ['a number beyond numbers', '{"text":"x","params":{"max_new_tokens":1e999}}', 400],
    ['bytes that are no text', '{"text":"\xff\xfe"}', 400],
    ['more than fits', `{"text":"${'x'.repeat(2 ** 20)}"}`, 413],
    ['a null byte within', '{"text":"a\\u0000b"}', 200],
  ])('%s', async (_, body, status) => {
    expect((await ask(post('/models/v2/org/name', HEAD, body))).status).toBe(status);
  });

  test.each([
    'text/plain',
    'multipart/form-data; boundary=x',
    'application/x-www-form-urlencoded',
    'application/jsonx',
    '*/*',
  ])('of type %s', async (type) => {
    const head = HEAD.replace('application/json', type);
    expect((await ask(post('/models/v2/org/name', head))).status).toBe(415);
  });

  test.each([
    ['zip', 415],
    ['__proto__', 415],
    ['gzip', 400],
  ])('encoded as %s', async (encoding, status) => {
    const head = `${HEAD}Content-Encoding: ${encoding}\r\n`;
    expect((await ask(post('/models/v2/org/name', head))).status).toBe(status);
  });

  test('who has no key is told before the body has come', async () => {
    const head = `Host: x\r\nAuthorization: no\r\nConnection: close\r\nContent-Length: 999999999\r\n`;
    expect((await ask(`POST /models/v2/org/name HTTP/1.1\r\n${head}\r\n`)).status).toBe(401);
  });

  test('a body is asked for only when it is wanted (Expect: 100-continue)', async () => {
    const base = await gateway({ container: done });
    const expecting = (key: string, target: string) =>
      `POST ${target} HTTP/1.1\r\nHost: x\r\nAuthorization: ${key}\r\nContent-Type: application/json\r\n` +
      `Connection: close\r\nExpect: 100-continue\r\nContent-Length: ${BODY.length}\r\n\r\n`;
    const refused = await exchange(base, expecting('no', '/models/v2/org/name'));
    expect(refused).toMatch(/^HTTP\/1\.1 401 /);
    expect(await exchange(base, expecting(secret, '/models/v2/no/such'))).toMatch(/^HTTP\/1\.1 404 /);
    const { port, hostname } = new URL(base);
    const socket = connect(Number(port), hostname);
    let answer = '';
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
    socket.write(expecting(secret, '/models/v2/org/name'));
    await waitFor(() => answer.includes('100 Continue'));
    socket.write(BODY);
    await once(socket, 'close');
    expect(answer).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n/);
  });
});

describe('time', () => {
  const times = { headersMs: 30, requestMs: 60 };

  test('a client that drips its headers, or its body, is told and cut off', async () => {
    const given = { container: done, times };
    expect((await ask(`POST /models/v2/org/name HTTP/1.1\r\nHost:`, given)).status).toBe(408);
    expect((await ask(post('/models/v2/org/name').slice(0, -3), given)).status).toBe(408);
  });

  test('a model may take longer than a request may', async () => {
    const slow: RequestListener = (request, response) => {
      request.resume();
      setTimeout(() => response.setHeader('Content-Type', JSON_TYPE).end('{"error":null,"output":1}'), 300);
    };
    expect((await ask(post('/models/v2/org/name'), { container: slow, times })).status).toBe(200);
  });

  test('requests that are sent together are answered in their order', async () => {
    const base = await gateway({ container: done });
    const open = HEAD.replace('Connection: close\r\n', '');
    const answer = await exchange(
      base,
      post('/models/v2/org/name', open) + post('/models/v2/no/such', open) + post('/models/v2/org/name'),
    );
    expect([...answer.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual([
      '200',
      '404',
      '200',
    ]);
  });

  test('what follows a refused body is not taken for a request', async () => {
    const base = await gateway({ container: done });
    const smuggled = post('/models/v2/org/name');
    const head = `Host: x\r\nAuthorization: no\r\nContent-Length: ${smuggled.length}\r\n`;
    const answer = await exchange(
      base,
      `POST /models/v2/org/name HTTP/1.1\r\n${head}\r\n${smuggled}${post('/models/v2/no/such')}`,
    );
    expect([...answer.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual(['401', '404']);
  });
});

describe('what a model’s server answers', () => {
  const strangers: Server[] = [];
  afterEach(() => strangers.splice(0).forEach((server) => server.close()));

  /** A server that answers with these bytes, whatever it is asked. */
  async function behind(bytes: string): Promise<GivenGateway> {
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.end(Buffer.from(bytes, 'latin1')));
    });
    strangers.push(server.listen(0, '127.0.0.1'));
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    return { models: [{ addresses: [`http://127.0.0.1:${port}`] }] };
  }
  const http = (status: string, type: string, body: string, extra = '') =>
    `HTTP/1.1 ${status}\r\nContent-Type: ${type}\r\n${extra}Content-Length: ${body.length}\r\n\r\n${body}`;
  const ENVELOPE = '{"error":"no","output":null}';

  test.each([
    ['a page of a proxy', http('502 Bad Gateway', 'text/html', '<h1>nginx</h1>'), 503],
    ['a redirect', http('302 Found', 'text/html', '', 'Location: http://internal:1/\r\n'), 503],
    ['a page that is none of a model', http('200 OK', 'text/html', '<script>1</script>'), 503],
    ['no status', 'HTTP/1.1 abc\r\n\r\n', 503],
    ['no HTTP', 'hello', 503],
    ['nothing', '', 503],
    ['a header in a header', http('200 OK', 'application/json', '{}', 'X-A: b\rX-C: d\r\n'), 503],
    ['headers without end', `HTTP/1.1 200 OK\r\nX: ${'a'.repeat(100_000)}\r\n\r\n`, 503],
    ['an error in a bare type', http('422 No', 'application/json', ENVELOPE), 422],
    ['a status of its own', http('299 Odd', 'application/json', ENVELOPE), 299],
  ])('%s', async (_, bytes, status) => {
    const answer = await ask(post('/models/v2/org/name'), await behind(bytes));
    expect(answer.status).toBe(status);
    expect(answer.head).not.toMatch(/location|x-c/i);
  });

  test('headers of its own connection and cookies stay behind', async () => {
    const extra =
      'Set-Cookie: a=b\r\nKeep-Alive: x\r\nX-RateLimit-Remaining: 7\r\nServer: secret\r\nProxy-Authenticate: y\r\n';
    const answer = await ask(
      post('/models/v2/org/name'),
      await behind(http('200 OK', JSON_TYPE, ENVELOPE, extra)),
    );
    expect(answer.head).not.toMatch(/set-cookie|keep-alive: x|remaining: 7|secret|proxy-auth/i);
  });

  test('a short answer that is cut off is an error; a long one cuts the caller off', async () => {
    const cut = (length: number) =>
      behind(
        `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n{"error":null`,
      );
    expect(await ask(post('/models/v2/org/name'), await cut(99))).toMatchObject({
      ...{ status: 503, error: 'the model broke off; try again' },
    });
    const answer = await exchange(await gateway(await cut(99_999)), post('/models/v2/org/name'));
    expect(answer).toMatch(/\r\nContent-Length: 99999\r\n/i);
    expect(answer).toMatch(/\{"error":null$/);
  });
});

test('neither keys nor bytes that terminals obey get into the log', async () => {
  const lines: string[] = [];
  const logger = createLogger('json', 'silent');
  logger.info = ((facts: object, line: string) => lines.push(JSON.stringify(facts) + line)) as never;
  const base = await gateway({ container: done, parts: { logger } });
  for (const target of [`/models/v2/${secret}/x`, `/${secret}?key=${secret}`, '/\x9b31m/\x7f'])
    await exchange(base, `GET ${target} HTTP/1.1\r\n${HEAD}\r\n`);
  await exchange(base, post('/models/v2/org/name', HEAD, `{"text":"${secret}"}`));
  expect(lines.length).toBeGreaterThanOrEqual(3);
  expect(lines.join('\n')).not.toMatch(/slw_[\w-]{5}|[\x7f-\xff]/);
});
