import { createServer } from 'node:http';
import { readServerConfig } from '../../runtime/boot/config.js';
import { parseAllowedOrigins } from '../../gateway/options.js';
import { fakeApp } from '../fakes/app.js';
import { closeServers, gateway, secret, started } from '../fakes/gateway.js';

/** Calls of pages in browsers, at a server that requires its key and at the gateway. */

afterEach(closeServers);

const PAGE = 'https://app.example';

interface Face {
  url: string;
  run: string;
}

const answering = (origins?: readonly string[]) =>
  fakeApp({
    task: 'text-generation',
    run: async () => 'text',
    requiredKey: secret,
    ...(origins ? { origins } : {}),
  });

const FACES: Record<string, (origins?: readonly string[]) => Promise<Face>> = {
  async server(origins) {
    const url = await started(createServer(answering(origins)));
    return { url, run: `${url}/run` };
  },
  async gateway(origins) {
    const container = fakeApp({ task: 'text-generation', run: async () => 'text' });
    const base = await gateway({ container, parts: { origins } });
    return { url: base.replace('/models/v2', ''), run: `${base}/org/name` };
  },
};

function preflight(url: string, headers: Record<string, string> = {}) {
  return fetch(url, {
    method: 'OPTIONS',
    headers: {
      origin: PAGE,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization, content-type, x-stainless-os',
      ...headers,
    },
  });
}

const call = (url: string, headers: Record<string, string>, body = '{"text":"x"}') =>
  fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body });

const cors = ({ headers }: Response) =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-') || name === 'vary'));

describe.each(Object.keys(FACES))('%s', (face) => {
  const open = FACES[face]!;
  const setting = face === 'server' ? 'ALLOW_ORIGINS=' : '--allow-origins ';

  test('a preflight of an allowed origin is answered without a key', async () => {
    const { run } = await open(['https://other.example', PAGE]);
    const answer = await preflight(run);
    expect([answer.status, await answer.text()]).toEqual([204, '']);
    expect(cors(answer)).toEqual({
      'access-control-allow-origin': PAGE,
      'access-control-allow-methods': 'GET, HEAD, POST',
      'access-control-allow-headers': 'authorization, content-type, x-stainless-os',
      'access-control-max-age': '7200',
      vary: 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers',
    });
  });

  test.each([
    undefined,
    [],
    ['https://app.example.org'],
    ['http://app.example'],
    ['https://app.example:8443'],
  ])('with %j it is refused, and told how to allow it', async (origins) => {
    const { run } = await open(origins);
    const answer = await preflight(run);
    expect([answer.status, await answer.json()]).toEqual([
      403,
      {
        error: `pages of this origin may not call this server; the operator can allow them (${setting}${PAGE})`,
        output: null,
      },
    ]);
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
  });

  test('* allows all, and does not vary', async () => {
    const { run } = await open(['*']);
    expect(cors(await preflight(run))).toMatchObject({ 'access-control-allow-origin': '*' });
    const answer = await call(run, { origin: 'null', authorization: `Key ${secret}` });
    expect(answer.status).toBe(200);
    expect(cors(answer)).toMatchObject({ 'access-control-allow-origin': '*' });
    expect(answer.headers.get('vary')).toBeNull();
  });

  test('answers and errors may be read by the page, streams too', async () => {
    const { run, url } = await open([PAGE]);
    const key = { authorization: `Key ${secret}`, origin: PAGE };
    const answers = [
      await call(run, key),
      await call(run, key, '{"text":"x","stream":true}'),
      await call(run, key, '{"text":3}'),
      await call(run, { origin: PAGE }),
      await fetch(`${url}/health`, { headers: { origin: PAGE } }).catch(
        (error: unknown) => error as Response,
      ),
      await fetch(`${url}/nowhere`, { headers: { origin: PAGE } }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 400, 401, expect.any(Number), 404]);
    for (const answer of answers) {
      expect(cors(answer)).toMatchObject({ 'access-control-allow-origin': PAGE, vary: 'Origin' });
      expect(answer.headers.get('access-control-expose-headers')).toMatch(/X-Request-Id.*inference-time/);
    }
  });

  test('other callers are answered as before', async () => {
    const { run } = await open([PAGE]);
    const key = { authorization: `Key ${secret}` };
    const plain = await call(run, key);
    expect([plain.status, cors(plain)]).toEqual([200, { vary: 'Origin' }]);
    const foreign = await call(run, { ...key, origin: 'https://evil.example' });
    expect([foreign.status, cors(foreign)]).toEqual([200, { vary: 'Origin' }]);
    const none = await call((await open()).run, { ...key, origin: PAGE });
    expect([none.status, cors(none)]).toEqual([200, {}]);
  });

  test('what is no preflight needs what it needed', async () => {
    const { run } = await open([PAGE]);
    const options = await fetch(run, { method: 'OPTIONS' });
    expect(options.status).toBe(face === 'server' ? 405 : 401);
  });
});

test.each([
  'https://app.example/',
  'app.example',
  'https://app.example/path',
  'https://u@app.example',
  'null',
])('%s is no origin', (text) => {
  expect(() => readServerConfig({ KEY: 'x', ALLOW_ORIGINS: text })).toThrow(/^ALLOW_ORIGINS takes origins/);
  expect(() => parseAllowedOrigins(text)).toThrow(/expected origins such as/);
});

test('origins are separated by commas or blanks', () => {
  const text = 'https://app.example, http://localhost:3000 https://[::1]:8443';
  const origins = ['https://app.example', 'http://localhost:3000', 'https://[::1]:8443'];
  expect(readServerConfig({ KEY: 'x', ALLOW_ORIGINS: text }).ALLOW_ORIGINS).toEqual(origins);
  expect(parseAllowedOrigins(text)).toEqual(origins);
});
