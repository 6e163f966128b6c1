import { jest } from '@jest/globals';
import { zooModel } from '../parity/zoo.js';
import { difference } from '../parity/difference.js';
import { modelEnv, type ServerProcess, startServer, waitFor } from '../fakes/server.js';

/** A text encoder answers from one session at first; the others take its place while requests come. */

jest.setTimeout(120_000);

/** Other kernels, other order of summation: the last digits of a float. */
const ROUNDING = { kind: 'json', atol: 2e-5 } as const;
const CLIENTS = 4;
/** The golden request's. */
const FIRST_RUNS = 1;

let server: ServerProcess;
afterAll(() => server.stop());

test('answers are the same before, while and after the sessions change, and the change comes by itself', async () => {
  const model = await zooModel('fill-mask', 'bert');
  const env = await modelEnv(model.repo, { task: 'fill-mask' });
  // Also where there is one core.
  server = await startServer({ ...env, THREADS: '2', WORKERS: '2' });
  await server.ready();
  const [{ request }] = model.cases.filter((each) => !each.expect_error) as [(typeof model.cases)[number]];
  const ask = async () => {
    const response = await server.run(request);
    return ((await response.json()) as { output: unknown }).output;
  };
  const first = await ask();
  const changed = new AbortController();
  const client = async () => {
    const wrong: string[] = [];
    while (!changed.signal.aborted) {
      const found = await difference(await ask(), first, ROUNDING, 'meanwhile');
      if (found !== null) wrong.push(found);
    }
    return wrong;
  };
  const clients = Array.from({ length: CLIENTS }, client);
  // Runs enough for the sessions to have changed long ago.
  await waitFor(async () => (await answered()) > CLIENTS * 50);
  changed.abort();
  expect((await Promise.all(clients)).flat()).toEqual([]);
  expect(await difference(await ask(), first, ROUNDING, 'afterwards')).toBeNull();
});

test('what may share a run is tried without a request', async () => {
  const model = await zooModel('fill-mask', 'bert');
  const idle = await startServer({
    ...(await modelEnv(model.repo, { task: 'fill-mask' })),
    ...{ THREADS: '2', WORKERS: '2' },
  });
  try {
    await idle.ready();
    await waitFor(async () => ((await idle.status())['graph_runs'] as number) > FIRST_RUNS + 3);
  } finally {
    await idle.stop();
  }
});

const answered = async () => (await server.status())['graph_runs'] as number;
