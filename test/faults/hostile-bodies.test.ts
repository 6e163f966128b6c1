import { jest } from '@jest/globals';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { changeKeys } from '../../gateway/keys/key-file.js';
import { newKey } from '../../gateway/keys/key-store.js';
import { BOMB, type HostileBody, hostileBodies, MEBI } from '../../bench/lib/hostile-bodies.mjs';
import { freePort, modelEnv, ROOT, type ServerProcess, startServer } from '../fakes/server.js';

/** Bodies that cost as much as the limits allow, several at a time: nobody else may notice. */

jest.setTimeout(180_000);

/** The worst that was seen before bodies were bounded: 6 s on a container, 71 s on a gateway. */
const MOST_CPU_SECONDS = 1.5;
const AT_ONCE = 6;

/** What a client sees that still sends when the server has refused its body, answered and closed. */
const CUT_SHORT = ['EPIPE', 'ECONNRESET'];

/**
 * On a connection of its own: one that is kept may be closed by the server just as it is used again. Nothing but that the
 * server goes on answering others is asked of a refusal that the client's own writing has overtaken.
 */
const statusOf = (
  url: string,
  { encoding, bytes }: HostileBody,
  headers: Record<string, string>,
): Promise<number | 'cut short'> =>
  new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        ...{ method: 'POST', agent: false },
        headers: {
          ...{ 'content-type': 'application/json', 'content-length': bytes.length },
          ...(encoding ? { 'content-encoding': encoding } : {}),
          ...headers,
        },
      },
      (answer) => answer.resume().once('end', () => resolve(answer.statusCode!)),
    );
    sent.on('error', (error: NodeJS.ErrnoException) =>
      CUT_SHORT.includes(error.code!) ? resolve('cut short') : reject(error),
    );
    sent.end(bytes);
  });

/** Processor time that a process has had, in seconds; Linux counts a hundredth at a time. */
async function cpuSeconds(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // Behind the name, which may have brackets in it: state, parent, and so on.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/**
 * Asks for a sign of life again and again while the work goes on. Gives the most processor time that the server has taken
 * until it answered one: unlike the wait itself, that says nothing of other processes on this machine.
 */
async function longestWait({ livez, pid }: Target, work: Promise<unknown>): Promise<number> {
  const state = { busy: true };
  let longest = 0;
  const ended = work.finally(() => (state.busy = false));
  while (state.busy) {
    const before = await cpuSeconds(pid);
    expect((await fetch(livez)).status).toBe(200);
    longest = Math.max(longest, (await cpuSeconds(pid)) - before);
  }
  await ended;
  return longest;
}

async function peakMegabytes(pid: number): Promise<number> {
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))![1]) / 1024;
}

interface Target {
  pid: number;
  run: string;
  livez: string;
  headers: Record<string, string>;
}

async function survives(target: Target, bodies: readonly HostileBody[], megabytes: number): Promise<void> {
  const before = await peakMegabytes(target.pid);
  for (const body of bodies) {
    const sent = Promise.all(
      Array.from({ length: AT_ONCE }, () => statusOf(target.run, body, target.headers)),
    );
    const waited = await longestWait(target, sent);
    const answered = (await sent).every((status) => ['cut short', 200, 400, 413, 422, 503].includes(status));
    expect({ body: body.name, answered, waited: waited < MOST_CPU_SECONDS || waited }).toEqual({
      ...{ body: body.name, answered: true, waited: true },
    });
  }
  expect((await peakMegabytes(target.pid)) - before).toBeLessThan(megabytes);
}

describe('a container', () => {
  let server: ServerProcess;
  afterEach(() => server.stop());

  test('of a text task', async () => {
    const repo = join(ROOT, 'test/fixtures/zoo/text-classification/distilbert/repo');
    server = await startServer(await modelEnv(repo, { task: 'text-classification' }));
    await server.ready();
    const target = {
      pid: server.process.pid!,
      run: `${server.url}/run`,
      livez: `${server.url}/livez`,
      headers: {},
    };
    await survives(target, hostileBodies(MEBI), 250);
    expect((await server.run({ text: 'still here' })).status).toBe(200);
    expect((await server.status())['engine_restarts']).toBe(0);
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    expect(metrics).toMatch(/^slipway_pending_bytes 0$/m);
  });
});

describe('a gateway', () => {
  let child: ChildProcess;
  afterEach(async () => {
    child.kill();
    await once(child, 'exit');
  });

  async function start(): Promise<{ target: (model: string) => Target; metrics: string }> {
    const dir = await mkdtemp(join(tmpdir(), 'slipway-hostile-'));
    const key = newKey('hostile', new Date());
    await changeKeys(join(dir, 'keys.json'), () => [key.record]);
    const [port, metricsPort, nobody] = [await freePort(), await freePort(), await freePort()];
    const entry = (id: string, task: string) => ({
      ...{ id, task, params: 0.1, ramRequired: 1, addresses: [`http://127.0.0.1:${nobody}`] },
    });
    const models = [entry('org/text', 'text-classification'), entry('org/image', 'image-classification')];
    await writeFile(join(dir, 'models.yaml'), JSON.stringify({ models }));
    const args = [
      'dist/gateway/main.js',
      'serve',
      '--upstream',
      'static',
      '--catalog',
      join(dir, 'models.yaml'),
    ];
    args.push('--keys', join(dir, 'keys.json'), '--port', String(port), '--metrics', String(metricsPort));
    child = spawn(process.execPath, args, {
      env: { ...process.env, MAX_PENDING_BYTES: String(128 * MEBI) },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    await once(child.stdout!, 'data');
    const at = `http://127.0.0.1:${port}`;
    const headers = { authorization: key.secret };
    return {
      target: (model) => ({
        pid: child.pid!,
        run: `${at}/models/v2/${model}`,
        livez: `${at}/livez`,
        headers,
      }),
      metrics: `http://127.0.0.1:${metricsPort}/metrics`,
    };
  }

  test('before models of texts and of images', async () => {
    const { target, metrics } = await start();
    await survives(target('org/text'), [BOMB, ...hostileBodies(MEBI)], 250);
    // Chats carry images, so that zeros in gzip may become as many bytes as there.
    await survives(target('openai/v1/chat/completions'), hostileBodies(MEBI), 600);
    await survives(target('org/image'), hostileBodies(48 * MEBI), 600);
    const text = await (await fetch(metrics)).text();
    for (const gauge of ['calls', 'pending_bytes', 'questions', 'waiting'])
      expect(text).toMatch(new RegExp(`^slipway_gateway_${gauge} 0$`, 'm'));
  });
});
