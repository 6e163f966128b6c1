import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gunzipSync } from 'node:zlib';
import request from 'supertest';
import { fakeApp, type FakeAppOptions } from '../fakes/app.js';

const PLAYGROUND = pathToFileURL(join(import.meta.dirname, '../../dist/image/playground/'));
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

/** Kilobytes that the page may take on its way, as the issue of its making sets it. */
const MOST_BYTES = 70_000;

const app = (more: Partial<FakeAppOptions> = {}) =>
  fakeApp({ task: 'text-classification', playground: PLAYGROUND, ...more });

const servers: Server[] = [];
afterEach(() => servers.splice(0).forEach((server) => server.close()));

/** The bytes as they are sent, which supertest would unpack. */
async function sent(
  path: string,
  headers: Record<string, string>,
): Promise<{ headers: Headers; bytes: Buffer }> {
  const server = createServer(app()).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const { request: ask } = await import('node:http');
  const [response] = (await once(ask({ port, path, headers }).end(), 'response')) as [
    AsyncIterable<Buffer> & { headers: Record<string, string> },
  ];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return { headers: new Headers(response.headers), bytes: Buffer.concat(chunks) };
}

test('a browser gets the page at /, with a policy that lets nothing in', async () => {
  const { status, type, text, headers } = await request(app()).get('/').set('Accept', BROWSER);
  expect({ status, type }).toEqual({ status: 200, type: 'text/html' });
  expect(text).toContain('playground/page.js');
  expect(headers['content-security-policy']).toMatch(
    /default-src 'none'; script-src 'self'; style-src 'self'/,
  );
  expect(headers['content-security-policy']).not.toMatch(/unsafe|https?:/);
  expect(headers).toMatchObject({ 'referrer-policy': 'no-referrer', 'x-content-type-options': 'nosniff' });
});

test.each(['*/*', 'application/json', 'application/json, text/html;q=0.5'])(
  'whoever accepts %s gets the envelope that was there before',
  async (accept) => {
    const { status, body } = await request(app()).get('/').set('Accept', accept);
    expect({ status, body }).toEqual({
      status: 404,
      body: { error: expect.stringMatching(/POST \/run/), output: null },
    });
  },
);

test('/docs is the reference for browsers, and no route for others', async () => {
  const shown = await request(app()).get('/docs').set('Accept', BROWSER);
  expect({ status: shown.status, type: shown.type }).toEqual({ status: 200, type: 'text/html' });
  expect(shown.text).toContain('playground/docs.js');
  expect(shown.headers['content-security-policy']).not.toMatch(/unsafe|https?:/);
  expect((await request(app()).get('/docs').set('Accept', '*/*')).status).toBe(404);
});

test.each(['/', '/docs'])('no page at %s where there is none: PLAYGROUND=0', async (path) => {
  const { status, type } = await request(app({ playground: undefined }))
    .get(path)
    .set('Accept', BROWSER);
  expect({ status, type }).toEqual({ status: 404, type: 'application/json' });
});

test.each([
  ['/playground/page.js', 'text/javascript; charset=utf-8'],
  ['/playground/style.css', 'text/css; charset=utf-8'],
  ['/playground/docs.js', 'text/javascript; charset=utf-8'],
  ['/playground/docs.css', 'text/css; charset=utf-8'],
])('%s, packed or not', async (path, type) => {
  const packed = await sent(path, { 'Accept-Encoding': 'gzip, br' });
  expect(packed.headers.get('content-encoding')).toBe('gzip');
  const plain = await sent(path, {});
  expect(plain.headers.get('content-encoding')).toBeNull();
  expect(plain.headers.get('content-type')).toBe(type);
  expect(gunzipSync(packed.bytes).equals(plain.bytes)).toBe(true);
});

test('the page is small on its way', async () => {
  const headers = { 'Accept-Encoding': 'gzip', Accept: BROWSER };
  const files = ['/', '/playground/page.js', '/playground/style.css'];
  const sizes = await Promise.all(files.map(async (path) => (await sent(path, headers)).bytes.length));
  expect(sizes.reduce((a, b) => a + b, 0)).toBeLessThan(MOST_BYTES);
});

test('the page itself needs no key, its calls do', async () => {
  const locked = app({ requiredKey: 'k' });
  expect((await request(locked).get('/').set('Accept', BROWSER)).status).toBe(200);
  expect((await request(locked).post('/run').send({ text: 'x' })).status).toBe(401);
});

test('its files can only be read', async () => {
  const { status, headers } = await request(app()).post('/playground/page.js');
  expect({ status, allow: headers['allow'] }).toEqual({ status: 405, allow: 'GET, HEAD' });
});
