import { jest } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { zooModel, type ZooCase, type ZooModel } from '../parity/zoo.js';
import { difference } from '../parity/difference.js';
import { modelEnv, type ServerProcess, startServer, waitFor } from '../fakes/server.js';

/** Images on session threads, where they share runs: what they get does not depend on who else is there, or leaves. */

jest.setTimeout(120_000);

/** Other kernels, other order of summation: the last digits of a float. */
const ROUNDING = { kind: 'json', atol: 2e-5 } as const;

interface Told {
  status: number;
  output: unknown;
}

let model: ZooModel;
let server: ServerProcess;
let alone: Told[];

beforeAll(async () => {
  model = await zooModel('image-classification', 'vit-tiny');
  const env = await modelEnv(model.repo, { task: 'image-classification' });
  // Also where there is one core.
  server = await startServer({ ...env, THREADS: '2', WORKERS: '2' });
  await server.ready();
  alone = [];
  for (const zooCase of model.cases) alone.push(await ask(zooCase));
});
afterAll(() => server.stop());

async function ask({ request }: ZooCase): Promise<Told> {
  const response = await server.run(request);
  const { output } = (await response.json()) as { output: unknown };
  return { status: response.status, output };
}

/** Asks all cases again and again, from another one on. */
async function client(offset: number, rounds: number): Promise<(string | null)[]> {
  const found: (string | null)[] = [];
  for (let i = 0; i < rounds * model.cases.length; i++) {
    const at = (i + offset) % model.cases.length;
    const { status, output } = await ask(model.cases[at]!);
    const name = model.cases[at]!.name;
    found.push(status === alone[at]!.status ? null : `${name}: ${status}`);
    found.push(await difference(output, alone[at]!.output, ROUNDING, name));
  }
  return found;
}

const wrong = (found: (string | null)[]) => found.filter((each) => each !== null);

test('alone they are Python’s', async () => {
  const problems = model.cases.map(async ({ expect_error, expect: expected, compare, name }, i) => {
    const { status, output } = alone[i]!;
    if (expect_error) return status >= 400 && status < 500 ? null : `${name}: ${status}`;
    return status === 200 ? difference(output, expected, compare, name) : `${name}: ${status}`;
  });
  expect(wrong(await Promise.all(problems))).toEqual([]);
});

test('while eight others are asked they are the same', async () => {
  const found = await Promise.all(Array.from({ length: 9 }, (_, i) => client(i, 4)));
  expect(wrong(found.flat())).toEqual([]);
});

test('while others leave they are the same, and nothing stays', async () => {
  const over = new AbortController();
  const leaver = async (waitMs: number) => {
    for (let i = 0; !over.signal.aborted; i++) {
      const { request } = model.cases[i % model.cases.length]!;
      const left = fetch(`${server.url}/run`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(request),
        signal: AbortSignal.timeout(1 + waitMs),
      });
      await left.then((response) => response.arrayBuffer()).catch(() => {});
      await delay(1);
    }
  };
  const leavers = [0, 1, 2, 3, 5, 8].map(leaver);
  const found = await Promise.all(Array.from({ length: 4 }, (_, i) => client(i, 4)));
  over.abort();
  await Promise.all(leavers);
  expect(wrong(found.flat())).toEqual([]);
  await waitFor(async () => {
    const { running, queued } = await server.status();
    return running === 0 && queued === 0;
  });
  expect((await server.status())['engine_restarts']).toBe(0);
  expect(wrong(await client(0, 1))).toEqual([]);
});
