import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gatewayChecks } from '../../builder/conformance/checks/gateway.js';
import { httpTransport } from '../../builder/conformance/http-transport.js';
import { resultOf, runChecks, serverUnderTest } from '../../builder/conformance/run-checks.js';
import type { Transport } from '../../builder/conformance/transport.js';
import { openApiOf } from '../../runtime/boot/openapi.js';
import { createFetchMedia } from '../../runtime/media/fetch-media.js';
import { DIRECT } from '../../runtime/network/outgoing-settings.js';
import { runnableExample } from '../../runtime/tasks/example.js';
import { taskOf } from '../../runtime/tasks/registry.js';
import { fakeApp } from '../fakes/app.js';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** A classifier of images. @param allowPrivate networks that it fetches from */
async function serving(allowPrivate: string[]): Promise<Transport> {
  const task = 'image-classification';
  const example = runnableExample(taskOf(task));
  const spec = { id: 'test/model', task, commit: '0'.repeat(40) } as const;
  const app = fakeApp({
    task,
    run: async () => [{ label: 'cat', score: 0.5 }],
    status: () => ({ state: 'ready', details: { engine_restarts: 0, example } }),
    openapi: () => openApiOf(spec, '1'),
    fetchMedia: createFetchMedia({ allowPrivate, maxBytes: 2 ** 20, timeoutMs: 5000, outgoing: DIRECT }),
  });
  const server = createServer(app).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return httpTransport(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
}

async function mediaResults(transport: Transport) {
  const options = { headers: {}, only: ['media'], say: () => undefined } as const;
  const { results } = await runChecks(transport, options);
  return Object.fromEntries(results.map(({ check, passed, detail }) => [check, { passed, detail }]));
}

test('a server that may ask this machine is sent a medium by its address', async () => {
  expect(await mediaResults(await serving(['127.0.0.1']))).toEqual({
    'by address': { passed: true, detail: 'the same answer as for the medium as Base64' },
    'of an address with nothing': { passed: true, detail: 'url: answered with status 404' },
    'of addresses that are none': { passed: true, detail: expect.any(String) },
  });
});

test('a server that may not says so, and asks nothing', async () => {
  const { 'by address': seen } = await mediaResults(await serving([]));
  expect(seen).toEqual({ passed: true, detail: expect.stringContaining('was not asked') });
});

test('another answer to the same medium is noticed', async () => {
  const honest = await serving(['127.0.0.1']);
  const faulty: Transport = {
    async send(call) {
      const answer = await honest.send(call);
      if (!call.body?.includes('/medium')) return answer;
      return { ...answer, bytes: Buffer.from(answer.bytes.toString('utf8').replace('cat', 'dog')) };
    },
  };
  const { 'by address': seen } = await mediaResults(faulty);
  expect(seen).toEqual({ passed: false, detail: expect.stringContaining('"dog"') });
});

test('an address that is refused only after it was asked is noticed', async () => {
  const honest = await serving(['127.0.0.1']);
  const faulty: Transport = {
    async send(call) {
      const answer = await honest.send(call);
      if (!call.body?.includes('/medium')) return answer;
      const error = "url: can't be fetched (ALLOW_PRIVATE_URLS)";
      return { ...answer, status: 422, bytes: Buffer.from(JSON.stringify({ error, output: null })) };
    },
  };
  expect((await mediaResults(faulty))['by address']).toMatchObject({ passed: false });
});

test('a gateway that answers everything alike fails each of its own checks', async () => {
  const { server } = await serverUnderTest(await serving([]), { headers: {} });
  const root: Transport = {
    send: async () => ({ status: 200, headers: {}, bytes: Buffer.from('{"error":null,"output":null}') }),
  };
  const asked = { ...server, headers: { authorization: 'Key a' } };
  const results = await Promise.all(
    gatewayChecks(root, '/models/v2/a/b').map((each) => resultOf(each, asked)),
  );
  expect(results.filter(({ passed }) => passed)).toEqual([]);
});
