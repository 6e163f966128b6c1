import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { hubSource } from '../../../runtime/store/hub.js';
import { startHub } from '../../fakes/hub.js';
import { GRAPH, useWorkbench } from './workbench.js';

/** What proxies, mirrors and portals do to downloads. */
const bench = useWorkbench();

/** As an interrupted download leaves it. */
function leavePart(content: Uint8Array): void {
  mkdirSync(join(bench.target(), 'onnx'), { recursive: true });
  writeFileSync(`${bench.graphPath()}.part`, content);
}

describe('a part is there, and the server', () => {
  beforeEach(() => leavePart(bench.graphBytes.subarray(0, 1_000_000)));

  test('ignores the range: what was there is kept, also when the connection breaks', async () => {
    bench.hub.fault({ path: GRAPH, ignoreRange: true });
    await bench.ensure();
    bench.expectComplete();
    expect(bench.ranges()).toEqual(['bytes=1000000-']);
  });

  test('begins before the range', async () => {
    bench.hub.fault({ path: GRAPH, shiftBy: -1000 });
    await bench.ensure();
    bench.expectComplete();
    expect(bench.ranges()).toEqual(['bytes=1000000-']);
  });

  test('begins behind the range: asked again, and nothing is lost', async () => {
    bench.hub.fault({ path: GRAPH, shiftBy: 1000 });
    await bench.ensure();
    bench.expectComplete();
    expect(bench.ranges()).toEqual(['bytes=1000000-', 'bytes=1000000-']);
  });

  test('begins behind the range for ever: a clear error, and the part stays', async () => {
    bench.hub.fault({ path: GRAPH, shiftBy: 1000, times: 99 });
    await expect(bench.ensure()).rejects.toMatchObject({
      kind: 'network',
      message: `${GRAPH} came from the wrong place; try again`,
    });
    expect(existsSync(`${bench.graphPath()}.part`)).toBe(true);
  });

  test('compresses what it sends', async () => {
    bench.hub.fault({ path: GRAPH, gzip: true });
    await bench.ensure();
    bench.expectComplete();
  });
});

test('a part that a power cut has spoilt, and a hub that errs once: both are fetched again', async () => {
  leavePart(Buffer.alloc(bench.graphBytes.length));
  bench.hub.fault({ path: GRAPH, wrongBytes: true });
  await bench.ensure();
  bench.expectComplete();
  expect(bench.ranges()).toEqual([undefined, undefined]);
});

test('a file that is shorter than its listing says ends with its reason, not with a 416', async () => {
  leavePart(bench.graphBytes.subarray(0, 3_000_000));
  const longer = bench.info.files.map((file) => (file.path === GRAPH ? { ...file, size: 4_000_000 } : file));
  const spec = { ...bench.info, files: longer };
  await expect(bench.ensure({ spec })).rejects.toMatchObject({
    message: expect.stringContaining(`${GRAPH} was cut off`),
  });
});

test.each([
  ['announces more bytes than it has', { promise: 100 }],
  ['drips', { drip: true }],
])('a server that %s is not waited for', async (_, fault) => {
  bench.hub.fault({ path: GRAPH, ...fault });
  await bench.ensure();
  bench.expectComplete();
});

describe('redirects', () => {
  const others: { close(): unknown }[] = [];
  afterEach(async () => void (await Promise.all(others.splice(0).map((other) => other.close()))));

  /** A server that sends everyone elsewhere, and keeps what it was sent. */
  async function signpost(to: () => string): Promise<{ url: string; tokens: (string | undefined)[] }> {
    const tokens: (string | undefined)[] = [];
    const server: Server = createServer((request, response) => {
      tokens.push(request.headers.authorization);
      response.writeHead(302, { location: to() + request.url }).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    others.push(server);
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, tokens };
  }

  const withToken = () => ({ source: () => hubSource({ endpoint: bench.hub.url, token: 'hf_secret' }) });
  const graphUrl = (base: string) => `${base}/org/name/resolve/${bench.info.commit}/${GRAPH}`;

  test('a chain over two other hosts: neither sees the token', async () => {
    const elsewhere = await startHub({ models: { 'org/name': bench.dir } });
    others.push(elsewhere);
    const second = await signpost(() => elsewhere.url);
    const first = await signpost(() => second.url);
    bench.hub.fault({ path: GRAPH, location: graphUrl(first.url) });
    await bench.ensure(withToken());
    bench.expectComplete();
    expect([...first.tokens, ...second.tokens]).toEqual([undefined, undefined]);
    expect(elsewhere.requests.map(({ headers }) => headers.authorization)).toEqual([undefined]);
  });

  test('away and back again: the token is not given a second time', async () => {
    const away = await signpost(() => bench.hub.url);
    bench.hub.fault({ path: GRAPH, location: graphUrl(away.url) });
    await bench.ensure(withToken());
    bench.expectComplete();
    expect(away.tokens).toEqual([undefined]);
    const asked = bench.hub.requests.filter(({ path }) => path.includes(GRAPH));
    expect(asked.map(({ headers }) => headers.authorization)).toEqual(['Bearer hf_secret', undefined]);
  });

  test('a signed address that has run out is asked for again', async () => {
    const refusing = createServer((_, response) => void response.writeHead(403).end());
    await new Promise<void>((resolve) => refusing.listen(0, '127.0.0.1', resolve));
    others.push(refusing);
    const port = (refusing.address() as AddressInfo).port;
    bench.hub.fault({ path: GRAPH, location: graphUrl(`http://127.0.0.1:${port}`) });
    await bench.ensure();
    bench.expectComplete();
  });

  test('a hub that has moved says itself that a model is gated', async () => {
    const moved = await startHub({ models: { 'org/name': { dir: bench.dir, gated: 'auto' } } });
    others.push(moved);
    bench.hub.fault({ path: GRAPH, location: graphUrl(moved.url), times: 9 });
    await expect(bench.ensure()).rejects.toMatchObject({ kind: 'gated' });
  });

  /** A page with a login, where the hub's file should be. */
  async function startPortal(times: number): Promise<void> {
    const portal = createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end('<html>log in</html>');
    });
    await new Promise<void>((resolve) => portal.listen(0, '127.0.0.1', resolve));
    others.push(portal);
    const { port } = portal.address() as AddressInfo;
    bench.hub.fault({ path: GRAPH, location: `http://127.0.0.1:${port}/login`, times });
  }

  test('a portal that wants a login is named as one', async () => {
    await startPortal(9);
    await expect(bench.ensure()).rejects.toMatchObject({
      kind: 'network',
      message: expect.stringMatching(/web page instead of data.*no proxy asks for a login/),
    });
    expect(existsSync(bench.graphPath())).toBe(false);
  });

  test('a portal that lets through after a while costs no more than tries', async () => {
    await startPortal(2);
    await bench.ensure();
    expect(existsSync(bench.graphPath())).toBe(true);
  });
});
