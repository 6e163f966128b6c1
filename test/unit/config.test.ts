import { readServerConfig } from '../../runtime/boot/config.js';

test('the defaults need nothing but a key', () => {
  expect(readServerConfig({ KEY: 'x' })).toMatchObject({
    PORT: 80,
    DEVICE: 'auto',
    REQUEST_TIMEOUT: 900_000,
  });
});

test('an empty value counts as absent', () => {
  expect(readServerConfig({ KEY: 'x', PORT: '', ALLOW_PRIVATE_URLS: '' })).toMatchObject({
    PORT: 80,
    ALLOW_PRIVATE_URLS: [],
  });
});

test('what URLs may lead to', () => {
  const text = 'media.lan, 10.0.0.0/8 192.168.1.2,fd12::/32,localhost,minio_1';
  expect(readServerConfig({ KEY: 'x', ALLOW_PRIVATE_URLS: text }).ALLOW_PRIVATE_URLS).toEqual([
    ...['media.lan', '10.0.0.0/8', '192.168.1.2', 'fd12::/32', 'localhost', 'minio_1'],
  ]);
});

test.each(['host:80', 'http://host', '10.0.0.0/33', 'fd12::/129', '*.lan', '[::1]'])(
  'ALLOW_PRIVATE_URLS=%s would never match, so it is refused',
  (entry) => {
    expect(() => readServerConfig({ KEY: 'x', ALLOW_PRIVATE_URLS: entry })).toThrow(
      /^ALLOW_PRIVATE_URLS takes/,
    );
  },
);

test.each(['REQUEST_TIMEOUT', 'CANCEL_GRACE', 'SHUTDOWN_GRACE', 'MEDIA_TIMEOUT'])(
  '%s is never longer than a timer of Node can be',
  (name) => {
    expect(readServerConfig({ KEY: 'x', [name]: '2147483' })).toMatchObject({ [name]: 2_147_483_000 });
    expect(() => readServerConfig({ KEY: 'x', [name]: '2147484' })).toThrow(
      `${name} must be at most 2147483`,
    );
  },
);

test('in a sealed image neither a hub nor an update notice is asked, whatever is set', () => {
  const env = { KEY: 'x', HF_HUB_OFFLINE: '0', UPDATE_URL: 'https://example.com/version' };
  // Any file that is there.
  const sealed = { ...env, SEALED_MANIFEST: 'package.json' };
  expect(readServerConfig(sealed)).toMatchObject({
    sealed: true,
    HF_HUB_OFFLINE: true,
    UPDATE_URL: undefined,
  });
  expect(readServerConfig(env)).toMatchObject({
    sealed: false,
    HF_HUB_OFFLINE: false,
    UPDATE_URL: env.UPDATE_URL,
  });
});

test('no message repeats a value', () => {
  expect(() => readServerConfig({ KEY: 'x', PORT: 'secret' })).toThrow(/^(?!.*secret).*PORT/);
});
