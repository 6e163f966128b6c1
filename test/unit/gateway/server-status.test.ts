import { createServer } from 'node:http';
import { waitUntilReady } from '../../../gateway/upstream/server-status.js';
import { closeServers, started } from '../../fakes/gateway.js';
import { freePort } from '../../fakes/server.js';

afterEach(closeServers);

const signal = new AbortController().signal;

const status = (state: string) => ({
  error: null,
  output: { state, reason: null, memory_bytes: { server: 1, engine: null } },
});

test('a server that is silent for long has not started; one that loads for as long has', async () => {
  const nobody = `http://127.0.0.1:${await freePort()}`;
  await expect(waitUntilReady(nobody, signal, 200)).rejects.toThrow('not answered for 0.2 s');
  const ready = performance.now() + 600;
  const loading = createServer((_request, response) =>
    response.end(JSON.stringify(status(performance.now() > ready ? 'ready' : 'loading'))),
  );
  await expect(waitUntilReady(await started(loading), signal, 200)).resolves.toBeUndefined();
});
