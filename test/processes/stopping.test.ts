import { jest } from '@jest/globals';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { changeKeys } from '../../gateway/keys/key-file.js';
import { newKey } from '../../gateway/keys/key-store.js';
import { freePort, modelEnv, ROOT, type ServerProcess, startServer, waitFor } from '../fakes/server.js';

/** Real servers and a real gateway that stop while callers call without a pause. */

const CLASSIFIER = join(ROOT, 'test/fixtures/zoo/text-classification/distilbert/repo');
const DEMO = join(ROOT, 'demo/model');

jest.setTimeout(120_000);

const running: ChildProcess[] = [];
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL');
});

async function serve(env: Record<string, string>): Promise<ServerProcess> {
  const server = await startServer(env);
  running.push(server.process);
  await server.ready();
  return server;
}

interface Gateway {
  url: string;
  key: string;
  child: ChildProcess;
}

async function gatewayFor(task: string, addresses: string[], flags: string[] = []): Promise<Gateway> {
  const dir = await mkdtemp(join(tmpdir(), 'slipway-stopping-'));
  const keys = join(dir, 'keys.json');
  const { secret, record } = newKey('test', new Date());
  await changeKeys(keys, () => [record]);
  const catalog = join(dir, 'models.yaml');
  await writeFile(catalog, JSON.stringify({ models: [{ id: 'org/name', task, addresses }] }));
  const args = ['serve', '--upstream', 'static', '--catalog', catalog, '--keys', keys, '--port', '0'];
  const child = spawn(
    process.execPath,
    [join(ROOT, 'dist/gateway/main.js'), ...args, ...flags, '--rate', '100000/1s'],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  );
  running.push(child);
  const base = String((await once(child.stdout, 'data'))[0]).trim();
  return { url: `${base}/org/name`, key: secret, child };
}

interface Answer {
  status: number | string;
  connection?: string | undefined;
  text?: string;
}

function post({ url, key }: Gateway, agent: Agent, body: object): Promise<Answer> {
  return new Promise((resolve) => {
    const headers = { authorization: `Key ${key}`, 'content-type': 'application/json' };
    const asked = request(url, { method: 'POST', agent, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (more: string) => (text += more));
      response.once('error', (error: NodeJS.ErrnoException) => resolve({ status: `broken ${error.code}` }));
      response.once('end', () =>
        resolve({ status: response.statusCode!, connection: response.headers.connection, text }),
      );
    });
    asked.once('error', (error: NodeJS.ErrnoException) => resolve({ status: error.code ?? error.message }));
    asked.end(JSON.stringify(body));
  });
}

/** Calls without a pause until told to stop. @returns what was not a 200, and how many were */
function callers(gateway: Gateway, count: number) {
  const stopped = new AbortController();
  const odd: Answer[] = [];
  let good = 0;
  const work = Array.from({ length: count }, async () => {
    const agent = new Agent({ keepAlive: true });
    while (!stopped.signal.aborted) {
      const answer = await post(gateway, agent, { text: 'What a lovely harbour.' });
      if (answer.status === 200) good++;
      else odd.push(answer);
    }
    agent.destroy();
  });
  return {
    good: () => good,
    async stop() {
      stopped.abort();
      await Promise.all(work);
      return odd;
    },
  };
}

test('a rolling restart of two servers loses no call, nor does one that is killed', async () => {
  const env = await modelEnv(CLASSIFIER, { task: 'text-classification' });
  const ports = [await freePort(), await freePort()].map(String);
  const start = (i: number) => serve({ ...env, PORT: ports[i]! });
  const servers = [await start(0), await start(1)];
  const gateway = await gatewayFor(
    'text-classification',
    servers.map(({ url }) => url),
  );
  const calls = callers(gateway, 8);
  const goOn = async () => {
    const before = calls.good();
    await waitFor(() => calls.good() > before + 50);
  };
  await goOn();
  for (const i of [0, 1]) {
    expect(await servers[i]!.stop()).toBe(0);
    await goOn();
    servers[i] = await start(i);
    await goOn();
  }
  servers[0]!.process.kill('SIGKILL');
  await servers[0]!.exited;
  await goOn();
  expect(await calls.stop()).toEqual([]);
});

test('a gateway that stops answers the calls under way, and each connection ends with its answer', async () => {
  const server = await serve(await modelEnv(DEMO, { task: 'text-generation' }));
  const gateway = await gatewayFor('text-generation', [server.url]);
  const long = { text: 'Once', params: { max_new_tokens: 200, min_new_tokens: 200 } };
  const agents = Array.from({ length: 6 }, () => new Agent({ keepAlive: true }));
  // The last two are idle when the signal comes, and send a call right after it.
  for (const agent of agents.slice(4)) await post(gateway, agent, { ...long, params: { max_new_tokens: 1 } });
  const underWay = agents.slice(0, 4).map((agent) => post(gateway, agent, long));
  await waitFor(async () => (await server.status())['running'] === 4);
  gateway.child.kill('SIGTERM');
  const late = agents
    .slice(4)
    .map((agent) => post(gateway, agent, { ...long, params: { max_new_tokens: 1 } }));
  const answers = await Promise.all([...underWay, ...late]);
  expect(answers.map(({ status, connection }) => [status, connection])).toEqual(
    Array.from({ length: 6 }, () => [200, 'close']),
  );
  expect(await once(gateway.child, 'exit')).toEqual([0, null]);
  for (const agent of agents) agent.destroy();
});

test('calls that outlast the grace get a 503, not a reset', async () => {
  const server = await serve(await modelEnv(DEMO, { task: 'text-generation' }));
  const gateway = await gatewayFor('text-generation', [server.url], ['--grace', '1s']);
  const agent = new Agent({ keepAlive: true });
  const params = { max_new_tokens: 4000, min_new_tokens: 4000, num_beams: 8 };
  const longest = post(gateway, agent, { text: 'Once', params });
  await waitFor(async () => (await server.status())['running'] === 1);
  gateway.child.kill('SIGTERM');
  expect(await longest).toMatchObject({ status: 503, text: expect.stringContaining('is stopping') });
  expect(await once(gateway.child, 'exit')).toEqual([0, null]);
  agent.destroy();
});
