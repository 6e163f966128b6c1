import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { readOutgoing } from '../../../runtime/network/certificates.js';
import { connectionProblem } from '../../../runtime/network/connection-problem.js';
import { outgoingFetch } from '../../../runtime/network/outgoing-fetch.js';
import { AUTHORITY, type Proxy, startProxy, startTlsFront } from '../../fakes/proxy.js';

const fail = (message: string) => new Error(message);
const fetchWith = (env: Record<string, string>) => outgoingFetch(readOutgoing(env, fail));

let server: Server;
let front: Awaited<ReturnType<typeof startTlsFront>>;
let proxy: Proxy;
let port: number;

beforeAll(async () => {
  server = createServer((request, response) => {
    if (request.url === '/moved') return response.writeHead(302, { location: 'https://other.test/x' }).end();
    const { host, authorization = 'none', 'proxy-authorization': leaked = 'none' } = request.headers;
    return response.end(`${host} ${authorization} ${leaked}`);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
  front = await startTlsFront(port);
  const targets = { 'hub.test:80': port, 'hub.test:443': front.port, 'other.test:443': front.port };
  proxy = await startProxy({ targets, password: 'user:p@ss' });
});
afterAll(async () => {
  await proxy.close();
  front.close();
  server.closeAllConnections();
  server.close();
});
beforeEach(() => void (proxy.requests.length = 0));

const throughProxy = () => ({ ALL_PROXY: proxy.url.replace('//', '//user:p%40ss@') });

test('http goes to the proxy in absolute form', async () => {
  const answer = await fetchWith(throughProxy())('http://hub.test/a?b', {
    headers: { authorization: 'Key k' },
  });
  expect(await answer.text()).toBe('hub.test Key k none');
  expect(proxy.requests).toEqual(['GET http://hub.test/a?b']);
});

test.each(['SSL_CERT_FILE', 'REQUESTS_CA_BUNDLE'])(
  'https in a tunnel, with the authority of %s, redirects too',
  async (name) => {
    const answer = await fetchWith({ ...throughProxy(), [name]: AUTHORITY })('https://hub.test/moved', {
      headers: { authorization: 'Key k' },
    });
    expect(await answer.text()).toBe('other.test none none');
    expect(proxy.requests).toEqual(['CONNECT hub.test:443', 'CONNECT other.test:443']);
  },
);

test('an authority that is not trusted: the remedy names the variables', async () => {
  const failed = fetchWith(throughProxy())('https://hub.test/');
  const problem = await failed.catch(connectionProblem);
  expect(problem).toMatchObject({
    fact: expect.stringMatching(/not trusted here, SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_/),
    remedy: expect.stringMatching(/SSL_CERT_FILE \(or REQUESTS_CA_BUNDLE, NODE_EXTRA_CA_CERTS\)/),
  });
});

test('direct, with a private authority', async () => {
  const send = fetchWith({ SSL_CERT_FILE: AUTHORITY });
  expect((await send(`https://127.0.0.1:${front.port}/`)).status).toBe(200);
  expect(proxy.requests).toEqual([]);
});

test.each(['http', 'https'])('a proxy that wants a password, %s', async (scheme) => {
  const problem = await fetchWith({ ALL_PROXY: proxy.url })(`${scheme}://hub.test/`).then(
    ({ status }) => status,
    connectionProblem,
  );
  const refused = { fact: 'the proxy answers 407', remedy: expect.stringMatching(/user:password@host:port/) };
  if (scheme === 'https') expect(problem).toEqual(refused);
  // Not in a tunnel, it is the answer.
  else expect([407, refused]).toContainEqual(problem);
});

test('a proxy that refuses the host', async () => {
  const problem = await fetchWith(throughProxy())('https://blocked.test/').catch(connectionProblem);
  expect(problem).toMatchObject({ fact: 'the proxy answers 403', remedy: expect.stringMatching(/NO_PROXY/) });
});

test.each([
  [{ SSL_CERT_FILE: '/nowhere/ca.pem' }, /^SSL_CERT_FILE names a file that can't be read \(ENOENT\).*mount/],
  [{ REQUESTS_CA_BUNDLE: import.meta.filename }, /^REQUESTS_CA_BUNDLE names a file without a certificate/],
  [{ NODE_EXTRA_CA_CERTS: '/nowhere' }, /^NODE_EXTRA_CA_CERTS names a file that can't be read/],
])('%j', (env, message) => {
  expect(() => readOutgoing(env, fail)).toThrow(message);
});

test('without any of the variables it is the fetch of Node.js', () => {
  expect(fetchWith({ NO_PROXY: 'x' })).toBe(fetch);
});
