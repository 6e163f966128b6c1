import { chooseProxy } from '../../../runtime/network/choose-proxy.js';
import { exposedProxies, readOutgoingSettings } from '../../../runtime/network/outgoing-settings.js';

const fail = (message: string) => new Error(message);
const proxyFor = (url: string, env: Record<string, string>) =>
  chooseProxy(new URL(url), readOutgoingSettings(env, fail))?.host;

test.each([
  [{ HTTP_PROXY: 'http://a:1' }, 'a:1', undefined],
  [{ HTTPS_PROXY: 'http://a:1' }, undefined, 'a:1'],
  [{ https_proxy: 'http://a:1' }, undefined, 'a:1'],
  [{ HTTPS_PROXY: 'http://a:1', https_proxy: 'http://b:2' }, undefined, 'b:2'],
  // In lower case an empty value switches the other off, as in Python.
  [{ HTTP_PROXY: 'http://a:1', http_proxy: '' }, undefined, undefined],
  [{ ALL_PROXY: 'http://a:1' }, 'a:1', 'a:1'],
  [{ all_proxy: 'a:1', HTTPS_PROXY: 'http://b:2' }, 'a:1', 'b:2'],
  [{ HTTP_PROXY: 'https://user:word@a:1/' }, 'a:1', undefined],
  [{ HTTP_PROXY: 'http://a:1', HTTPS_PROXY: 'http://b:2', ALL_PROXY: 'socks5://c:3' }, 'a:1', 'b:2'],
  [{}, undefined, undefined],
])('%j', (env, plain, secure) => {
  expect(proxyFor('http://hub.example/x', env as Record<string, string>)).toBe(plain);
  expect(proxyFor('https://hub.example/x', env as Record<string, string>)).toBe(secure);
});

test.each([
  ...['hub.example', '.hub.example', '*.example', 'example', 'other, hub.example', 'a hub.example:443', '*'],
  ...['HUB.EXAMPLE', 'hub.example.'],
])('NO_PROXY=%s leads around the proxy', (noProxy) => {
  const env = { HTTPS_PROXY: 'http://a:1', NO_PROXY: noProxy };
  expect(proxyFor('https://hub.example/', env)).toBeUndefined();
  expect(proxyFor('https://hub.example./', env)).toBeUndefined();
});

test.each(['ub.example', 'x.hub.example', 'hub.example:80', '10.0.0.0/8', '', ',', 'hub.example.org', '.'])(
  'NO_PROXY=%s does not',
  (no_proxy) => {
    expect(proxyFor('https://hub.example/', { HTTPS_PROXY: 'http://a:1', no_proxy })).toBe('a:1');
  },
);

test.each([
  ['http://10.1.2.3/', '10.0.0.0/8', undefined],
  ['http://11.1.2.3/', '10.0.0.0/8', 'a:1'],
  ['http://10.1.2.3:81/', '10.1.2.3:80', 'a:1'],
  ['http://10.1.2.3:81/', '10.1.2.3:81', undefined],
  ['http://[fd00::1]/', 'fd00::/8', undefined],
  ['http://[fd00::1]:80/', '[fd00::1]:80', undefined],
  ['http://[fd00::1]/', 'fd00:0::1', undefined],
  ['http://110.1.2.3/', '10.1.2.3', 'a:1'],
  // This machine itself, never through a proxy.
  ...['localhost', '127.0.0.1', '127.9.9.9', '[::1]'].map((host) => [`http://${host}:80/`, '', undefined]),
])('%s with NO_PROXY=%s', (url, NO_PROXY, expected) => {
  expect(proxyFor(url!, { HTTP_PROXY: 'http://a:1', NO_PROXY: NO_PROXY! })).toBe(expected);
});

test.each([
  [{ ALL_PROXY: 'socks5://u:secret@a:1' }, /^ALL_PROXY names a socks5 proxy; give an http or https proxy/],
  [{ https_proxy: 'http://secret:port' }, /^https_proxy is not an address; give http:\/\/host:port$/],
])('%j is refused without its value', (env, message) => {
  expect(() => readOutgoingSettings(env, fail)).toThrow(message);
  expect(() => readOutgoingSettings(env, fail)).not.toThrow(/secret/);
});

test('a proxy with a password is a secret', () => {
  const env = {
    HTTP_PROXY: 'http://u:p@a:1',
    https_proxy: 'u:p@a:1',
    ALL_PROXY: 'http://a:1/@',
    NO_PROXY: 'b',
  };
  expect(exposedProxies(env)).toEqual(['HTTP_PROXY', 'https_proxy']);
});
