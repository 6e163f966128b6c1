import { jest } from '@jest/globals';
import { createHash } from 'node:crypto';
import { appendFile, cp, mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { modelEnv, ROOT, type ServerProcess, startServer as start, waitFor } from '../fakes/server.js';
import type { ModelSpec } from '../../runtime/core/spec.js';

/** The server of a sealed image: its weights are held against the record at each start. */

const CLASSIFIER = join(ROOT, 'test/fixtures/zoo/text-classification/distilbert/repo');
const REFUSED =
  /this image is sealed, and its weights are not what was sealed; check it with "builder verify"/;

jest.setTimeout(60_000);

let folder: string;
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'slipway-sealed-'))));
const servers: ServerProcess[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()));
  await rm(folder, { recursive: true, force: true });
});

async function startServer(env: Record<string, string>): Promise<ServerProcess> {
  const server = await start(env);
  servers.push(server);
  return server;
}

const sha256 = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex');

interface Sealed {
  env: Record<string, string>;
  /** Folder with the weights. */
  dir: string;
  spec: ModelSpec;
}

/** A model and its record, as a sealed image has them. */
async function seal(): Promise<Sealed> {
  const dir = join(folder, 'model');
  await cp(CLASSIFIER, dir, { recursive: true });
  const env = await modelEnv(dir, { task: 'text-classification' });
  const specText = await readFile(env.MODEL_SPEC, 'utf8');
  const spec = JSON.parse(specText) as ModelSpec;
  const weights = await Promise.all(
    spec.files.map(async ({ path }) => ({
      path: `/server/model/${spec.id}/${spec.commit}/${path}`,
      sha256: sha256(await readFile(join(dir, path))),
    })),
  );
  const files = [{ path: '/model.json', sha256: sha256(specText) }, ...weights];
  const record = join(folder, 'manifest.json');
  await writeFile(record, JSON.stringify({ version: 2, files }));
  return { env: { ...env, SEALED_MANIFEST: record }, dir, spec };
}

/** Time stamps of layers have whole seconds. */
const STAMP = new Date('2020-01-01');

/** One bit of the weights, with size and time stamp as they were: nothing but their hash tells. */
async function alter({ dir }: Sealed): Promise<void> {
  const file = join(dir, 'onnx/model.onnx');
  const bytes = await readFile(file);
  // Inside the last tensor: the graph stays one, and answers.
  bytes[bytes.length - 9]! ^= 1;
  await writeFile(file, bytes);
  await utimes(file, STAMP, STAMP);
}

/** Has the server remember the files, as baked images do: they are not hashed at a start then. */
async function remember({ env, dir, spec }: Sealed): Promise<void> {
  for (const { path } of spec.files) await utimes(join(dir, path), STAMP, STAMP);
  const server = await startServer({ ...env, SEALED_MANIFEST: join(folder, 'none') });
  await server.ready();
  expect((await server.status())['weights']).toBeNull();
  await server.stop();
}

test.each(['auto', 'first', 'background'] as const)(
  'CHECK_WEIGHTS=%s: weights as sealed are served',
  async (when) => {
    const sealed = await seal();
    const server = await startServer({ ...sealed.env, CHECK_WEIGHTS: when });
    await server.ready();
    await waitFor(async () => JSON.stringify(await server.status()).includes('"verified"'));
    const bytes = sealed.spec.files.reduce((sum, { size }) => sum + size, 0);
    expect(await server.status()).toMatchObject({
      sealed: true,
      weights: {
        ...{ checked: 'verified', when: when === 'background' ? when : 'first' },
        ...{ bytes, seconds: expect.any(Number) },
      },
    });
    expect((await server.run({ text: 'x' })).status).toBe(200);
    expect(server.output()).toContain('the weights are those that were sealed');
    await server.stop();
  },
);

test.each(['first', 'background'] as const)(
  'CHECK_WEIGHTS=%s: altered weights are refused, although size and time stamp are as they were',
  async (when) => {
    const sealed = await seal();
    await remember(sealed);
    await alter(sealed);
    const server = await startServer({ ...sealed.env, CHECK_WEIGHTS: when });
    await waitFor(async () => (await server.status().catch(() => undefined))?.['state'] === 'failed');
    const status = await server.status();
    expect(status).toMatchObject({
      reason: expect.stringMatching(REFUSED),
      weights: { checked: 'failed', when },
    });
    const health = await fetch(`${server.url}/health`);
    expect([health.status, await health.json()]).toEqual([
      503,
      { error: expect.stringMatching(REFUSED), output: null },
    ]);
    const run = await server.run({ text: 'x' });
    expect([run.status, await run.json()]).toEqual([
      503,
      { error: expect.stringMatching(REFUSED), output: null },
    ]);
    // Which file it is stands in the log.
    expect(server.output()).toMatch(/onnx\/model\.onnx: its content differs/);
    // It was found by hashing for the record, not because the file looked touched.
    expect(server.output()).not.toMatch(/verifies the files in/);
    expect((await fetch(`${server.url}/livez`)).status).toBe(200);
    await server.stop();
  },
);

test('weights that are found altered later take their model process along, for good', async () => {
  const sealed = await seal();
  await remember(sealed);
  await alter(sealed);
  const server = await startServer({ ...sealed.env, CHECK_WEIGHTS: 'background' });
  await waitFor(async () => (await server.status().catch(() => undefined))?.['state'] === 'failed');
  const pid = Number((await server.status())['engine_pid']);
  await waitFor(() => !isAlive(pid));
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(await server.status()).toMatchObject({ state: 'failed', engine_restarts: 0, engine_pid: pid });
  expect(await server.stop()).toBe(0);
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test.each<[string, (sealed: Sealed) => Promise<void>, RegExp]>([
  [
    'another model.json',
    ({ env }) => appendFile(env['MODEL_SPEC']!, '\n'),
    /model\.json is not the one that was sealed/,
  ],
  [
    'a record of other files',
    async ({ env }) => {
      const text = await readFile(env['SEALED_MANIFEST']!, 'utf8');
      await writeFile(env['SEALED_MANIFEST']!, text.replace('onnx/model.onnx', 'onnx/other.onnx'));
    },
    /the record does not have onnx\/model\.onnx/,
  ],
  ['a record that is none', ({ env }) => writeFile(env['SEALED_MANIFEST']!, 'x'), /the record can't be read/],
])('%s is refused', async (_, change, logged) => {
  const sealed = await seal();
  await change(sealed);
  const server = await startServer(sealed.env);
  await waitFor(() => server.output().includes('not loaded'));
  expect(await server.status()).toMatchObject({ state: 'failed', reason: expect.stringMatching(REFUSED) });
  expect(server.output()).toMatch(logged);
  await server.stop();
});

test('a server that is stopped while it hashes ends', async () => {
  const { env } = await seal();
  const server = await startServer({ ...env, CHECK_WEIGHTS: 'background' });
  await waitFor(() => server.output().includes('listens on port'));
  expect(await server.stop()).toBe(0);
});
