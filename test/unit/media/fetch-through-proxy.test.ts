import { createServer, type Server } from 'node:http';
import type { lookup } from 'node:dns';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { createFetchMedia } from '../../../runtime/media/fetch-media.js';
import { readOutgoing } from '../../../runtime/network/certificates.js';
import { AUTHORITY, type Proxy, startProxy, startTlsFront } from '../../fakes/proxy.js';

/** Links of callers, where the operator's proxy could lead into the operator's network. */

const never = new AbortController().signal;

/** What names lead to; undefined where nothing is known. */
const NAMES: Record<string, string[]> = {
  'media.test': ['2606:2800:220:1::1', '93.184.216.34'],
  'inside.test': ['10.0.0.7'],
  localhost: ['127.0.0.1'],
  'half.test': ['93.184.216.34', '10.0.0.7'],
};

const resolve = ((name: string, options: { order?: string }, callback: (...found: unknown[]) => void) => {
  const found = (NAMES[name] ?? []).map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  if (options.order === 'ipv4first') found.sort((a, b) => a.family - b.family);
  if (found.length > 0) callback(null, found);
  else callback(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }));
}) as unknown as typeof lookup;

let server: Server;
let front: Awaited<ReturnType<typeof startTlsFront>>;
let proxy: Proxy;

beforeAll(async () => {
  server = createServer(({ url, headers }, response) => {
    if (url === '/inside') return response.writeHead(302, { location: 'http://inside.test/' }).end();
    return response.end(`of ${headers.host}`);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  front = await startTlsFront(port);
  const targets = {
    ...{ '93.184.216.34:80': port, '93.184.216.34:443': front.port },
    // The proxy itself would reach all of these.
    ...{ '10.0.0.7:80': port, 'inside.test:80': port, 'media.test:80': port, 'half.test:80': port },
    'unknown.test:80': port,
  };
  proxy = await startProxy({ targets });
});
afterAll(async () => {
  await proxy.close();
  front.close();
  server.closeAllConnections();
  server.close();
});
beforeEach(() => void (proxy.requests.length = 0));

function fetcher(allowPrivate: string[] = [], env: Record<string, string> = {}) {
  const outgoing = readOutgoing({ ALL_PROXY: proxy.url, ...env }, (message) => new Error(message));
  const fetchMedia = createFetchMedia({ allowPrivate, maxBytes: 1000, timeoutMs: 2000, outgoing, resolve });
  return async (url: string) => Buffer.from(await fetchMedia(url, never)).toString();
}

test('the proxy is asked for the address that was checked, not for the name, which it would resolve again', async () => {
  expect(await fetcher()('http://media.test/x')).toBe('of media.test');
  expect(proxy.requests).toEqual(['CONNECT 93.184.216.34:80']);
});

test('over TLS the certificate is that of the name', async () => {
  const get = fetcher([], { SSL_CERT_FILE: AUTHORITY });
  expect(await get('https://media.test/x')).toBe('of media.test');
  expect(proxy.requests).toEqual(['CONNECT 93.184.216.34:443']);
});

test('a certificate of an authority that is not trusted here', async () => {
  await expect(fetcher()('https://media.test/x')).rejects.toMatchObject({
    code: 'unprocessable',
    message: expect.stringMatching(
      /^url: can't be fetched .*not trusted here.*the operator can .*SSL_CERT_FILE/,
    ),
  });
});

test.each([
  'http://inside.test/',
  'http://half.test/',
  'http://10.0.0.7/',
  'http://[fd00::1]/',
  'http://localhost/',
])('%s is refused before the proxy is asked', async (url) => {
  await expect(fetcher()(url)).rejects.toMatchObject({
    code: 'unprocessable',
    message: expect.stringMatching(/ALLOW_PRIVATE_URLS/),
  });
  expect(proxy.requests).toEqual([]);
});

test('a redirect to the inside is refused at that hop', async () => {
  await expect(fetcher()('http://media.test/inside')).rejects.toMatchObject({
    message: expect.stringMatching(/private, local.*ALLOW_PRIVATE_URLS/),
  });
  expect(proxy.requests).toEqual(['CONNECT 93.184.216.34:80']);
});

test('a name that only the proxy could resolve is refused with the remedy', async () => {
  await expect(fetcher()('http://unknown.test/')).rejects.toMatchObject({
    code: 'unprocessable',
    message: expect.stringMatching(/can't resolve the name.*ALLOW_PRIVATE_URLS/),
  });
  expect(proxy.requests).toEqual([]);
});

test('a host that the operator allowed by name goes to the proxy by name', async () => {
  expect(await fetcher(['unknown.test'])('http://unknown.test/')).toBe('of unknown.test');
  expect(proxy.requests).toEqual(['CONNECT unknown.test:80']);
});

test('a network that the operator allowed', async () => {
  expect(await fetcher(['10.0.0.0/8'])('http://inside.test/')).toBe('of inside.test');
  expect(proxy.requests).toEqual(['CONNECT 10.0.0.7:80']);
});

test('a proxy that refuses says so', async () => {
  await expect(fetcher()('http://media.test:8080/')).rejects.toMatchObject({
    message: expect.stringMatching(/the proxy answers 403/),
  });
});

test('NO_PROXY leads around it, through the guard', async () => {
  const get = fetcher([], { NO_PROXY: 'inside.test' });
  await expect(get('http://inside.test/')).rejects.toMatchObject({
    message: expect.stringMatching(/ALLOW_PRIVATE_URLS/),
  });
  expect(proxy.requests).toEqual([]);
});
