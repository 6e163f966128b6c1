import { jest } from '@jest/globals';
import type { TaskId } from '../../runtime/core/task-ids.js';
import { zooModel } from '../parity/zoo.js';
import { difference } from '../parity/difference.js';
import { modelEnv, type ServerProcess, startServer, waitFor } from '../fakes/server.js';

/** Encoders answer from one session at first; the others take its place while requests come. */

jest.setTimeout(120_000);

/** Other kernels, other order of summation: the last digits of a float. */
const ROUNDING = { kind: 'json', atol: 2e-5 } as const;
const CLIENTS = 4;
/** The golden request's. */
const FIRST_RUNS = 1;

/** A server of two sessions, also where there is one core, and a request for it. */
async function start(task: TaskId, name: string) {
  const model = await zooModel(task, name);
  const [{ request }] = model.cases.filter((each) => !each.expect_error) as [(typeof model.cases)[number]];
  const env = await modelEnv(model.repo, { task });
  const server = await startServer({ ...env, THREADS: '2', WORKERS: '2' });
  return { server, request };
}

const answered = async (server: ServerProcess) => (await server.status())['graph_runs'] as number;

test.each([
  ['fill-mask', 'bert'],
  ['image-classification', 'vit-tiny'],
] as const)('answers of %s are the same before, while and after the sessions change', async (task, name) => {
  const { server, request } = await start(task, name);
  try {
    await server.ready();
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
    await waitFor(async () => (await answered(server)) > CLIENTS * 50);
    changed.abort();
    expect((await Promise.all(clients)).flat()).toEqual([]);
    expect(await difference(await ask(), first, ROUNDING, 'afterwards')).toBeNull();
  } finally {
    await server.stop();
  }
});

test.each([
  ['fill-mask', 'bert'],
  ['image-classification', 'vit-tiny'],
] as const)(
  'rows of %s that come one by one are all that is computed; when two meet, more sessions are made and tried',
  async (task, name) => {
    const { server, request } = await start(task, name);
    try {
      await server.ready();
      for (let i = 0; i < 4; i++) await (await server.run(request)).json();
      // The number is told five times a second.
      await waitFor(async () => (await answered(server)) === FIRST_RUNS + 4);
      let asked = 4;
      const moreAreComputed = async () => (await answered(server)) > FIRST_RUNS + asked;
      await waitFor(async () => {
        await Promise.all([1, 2, 3, 4].map(async () => (await server.run(request)).json()));
        asked += 4;
        // What is tried comes after the answers; texts may share runs from then on.
        return waitFor(moreAreComputed, 5000).then(
          () => true,
          () => false,
        );
      });
    } finally {
      await server.stop();
    }
  },
);
