import { jest } from '@jest/globals';
import { execFile } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { planModel } from '../../builder/plan/index.js';
import { hubSource } from '../../runtime/store/hub.js';
import { type Hub, startHub } from '../fakes/hub.js';
import { AUTHORITY, type Proxy, startProxy, startTlsFront } from '../fakes/proxy.js';
import { ROOT, type ServerProcess, startServer, waitFor } from '../fakes/server.js';
import { folderWith } from '../unit/store/folders.js';

/** Server and builder as processes behind a proxy with a password and servers of a private certificate authority. */

const REPO = join(ROOT, 'test/fixtures/zoo/image-classification/vit-tiny/repo');
const ID = 'test/images';

jest.setTimeout(60_000);

let hub: Hub;
/** Takes images, analytics and update notices. */
let other: Server;
let posted: string[];
let proxy: Proxy;
let closed: (() => void)[];
let env: Record<string, string>;

beforeAll(async () => {
  hub = await startHub({ models: { [ID]: { dir: REPO, pipeline_tag: 'image-classification' } } });
  const create = { width: 8, height: 8, channels: 3 as const, background: 'red' };
  const image = await sharp({ create }).png().toBuffer();
  posted = [];
  other = createServer((request, response) => {
    posted.push(`${request.method} ${request.url}`);
    if (request.url === '/version') return response.end(JSON.stringify({ version: '999.0.0' }));
    return response.end(image);
  }).listen(0, '127.0.0.1');
  await once(other, 'listening');
  const hubFront = await startTlsFront(hub.port);
  const otherFront = await startTlsFront((other.address() as AddressInfo).port);
  closed = [hubFront.close, otherFront.close];
  const targets = { 'hub.test:443': hubFront.port, 'media.test:443': otherFront.port };
  proxy = await startProxy({ targets, password: 'user:secret' });
  const { spec } = await planModel({ id: ID, source: hubSource({ endpoint: hub.url }) });
  env = {
    MODEL_SPEC: join(folderWith({ 'model.json': JSON.stringify(spec) }), 'model.json'),
    HF_ENDPOINT: 'https://hub.test',
    HTTPS_PROXY: proxy.url.replace('//', '//user:secret@'),
    SSL_CERT_FILE: AUTHORITY,
    HOME: folderWith(),
  };
});
beforeEach(() => {
  env['MODEL_DIR'] = folderWith();
  proxy.requests.length = 0;
});
afterEach(() => {
  for (const server of started.splice(0)) server.process.kill('SIGKILL');
});
afterAll(async () => {
  for (const close of closed) close();
  other.closeAllConnections();
  other.close();
  await Promise.all([hub.close(), proxy.close()]);
});

const started: ServerProcess[] = [];

async function start(settings: Record<string, string>): Promise<ServerProcess> {
  const server = await startServer({ ...env, ...settings });
  started.push(server);
  return server;
}

test('a server downloads its weights, fetches a link, tells analytics and asks for a newer version', async () => {
  const server = await start({
    ...{ ANALYTICS_URL: 'https://media.test/events', UPDATE_URL: 'https://media.test/version' },
    ALLOW_PRIVATE_URLS: 'media.test',
  });
  await server.ready();
  const answer = await server.run({ url: 'https://media.test/image.png' });
  expect([answer.status, await answer.text()]).toEqual([200, expect.stringMatching(/"score"/)]);
  await waitFor(() => posted.includes('POST /events') && /version 999\.0\.0 is out/.test(server.output()));
  expect(server.output()).not.toMatch(/secret/);
  expect(new Set(proxy.requests)).toEqual(new Set(['CONNECT hub.test:443', 'CONNECT media.test:443']));
});

test.each([
  ['SSL_CERT_FILE', { SSL_CERT_FILE: '' }, /not trusted here.*SSL_CERT_FILE \(or REQUESTS_CA_BUNDLE/],
  ['HTTPS_PROXY', { HTTPS_PROXY: 'http://127.0.0.1:1' }, /no connection to .*ECONNREFUSED.*HTTPS_PROXY/],
])('without a %s that works /health says what to set', async (_name, changed, reason) => {
  const server = await start(changed);
  let text = '';
  await waitFor(async () => {
    text = await fetch(`${server.url}/health`).then(
      (answer) => answer.text(),
      () => '',
    );
    return /failed/.test(text);
  }, 40_000);
  expect(text).toMatch(reason);
});

test('a bundle that is not there ends the server with one line', async () => {
  const server = await start({ REQUESTS_CA_BUNDLE: '/etc/company.pem' });
  expect(await server.exited).toBe(2);
  expect(server.output()).toMatch(
    /^slipway: REQUESTS_CA_BUNDLE names a file that can't be read \(ENOENT\).*mount/,
  );
});

test.each(['SSL_CERT_FILE', 'REQUESTS_CA_BUNDLE', 'NODE_EXTRA_CA_CERTS'])(
  'builder fetch behind both, with %s',
  async (name) => {
    const { SSL_CERT_FILE, MODEL_SPEC: _, ...others } = env;
    const to = folderWith();
    const output = await builder(['fetch', ID, '--to', to, '--cache', folderWith()], {
      ...others,
      [name]: SSL_CERT_FILE!,
    });
    expect(output).toMatch(/^0 /);
    expect(output).not.toMatch(/secret/);
    expect(proxy.requests).toContain('CONNECT hub.test:443');
  },
);

test('builder names the remedy for an authority that it does not trust', async () => {
  const output = await builder(['plan', ID, '--cache', folderWith()], { ...env, SSL_CERT_FILE: '' });
  expect(output).toMatch(/^[1-9]\d* .*SSL_CERT_FILE \(or REQUESTS_CA_BUNDLE, NODE_EXTRA_CA_CERTS\)/s);
});

function builder(args: string[], settings: Record<string, string>): Promise<string> {
  const main = join(ROOT, 'dist/builder/main.js');
  const options = { env: { PATH: process.env['PATH'], TMPDIR: tmpdir(), ...settings } };
  return new Promise((resolve) => {
    execFile(process.execPath, [main, ...args], options, (error, stdout, stderr) =>
      resolve(`${error?.code ?? 0} ${stdout}${stderr}`),
    );
  });
}
