import { jest } from '@jest/globals';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { modelEnv, ROOT, type ServerProcess, startServer } from '../fakes/server.js';

// The files of examples/ that need nothing but curl and Node; scripts/clients/run.mjs runs those of OpenAI's clients.

const run = promisify(execFile);
const zoo = (path: string) => join(ROOT, 'test/fixtures/zoo', path, 'repo');
const example = (name: string) => join(ROOT, 'examples', name);

jest.setTimeout(60_000);

let server: ServerProcess;

afterEach(() => server.stop());

test('curl.sh asks a model with its own example', async () => {
  server = await startServer(
    await modelEnv(zoo('text-classification/distilbert'), { task: 'text-classification' }),
  );
  await server.ready();
  const { stdout } = await run('sh', [example('curl.sh'), server.url]);
  expect(stdout).toMatch(/"label":/);
  expect(stdout).toMatch(/"error":"[^"]+".*\nstatus: 4\d\d\n$/s);
});

test('stream.mjs prints an answer as it is written, and leaves when its time is over', async () => {
  server = await startServer(await modelEnv(zoo('text-generation/llama'), { task: 'text-generation' }));
  await server.ready();
  const { stdout } = await run(process.execPath, [example('stream.mjs'), server.url, 'hello']);
  expect(stdout).toMatch(/^.+\n\{"tokens_in":.*\}\n$/s);
  const leaves = run(process.execPath, [example('stream.mjs'), server.url, 'hello', '0.001']);
  await expect(leaves).rejects.toThrow(/TimeoutError/);
});
