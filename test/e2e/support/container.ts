import { setTimeout as delay } from 'node:timers/promises';
import { docker, run } from './process.js';

export interface Envelope {
  error: string | null;
  output: unknown;
}

export interface TestContainer {
  id: string;
  /** Asks the server; the published port may change with every start. */
  request(path: string, body?: unknown): Promise<Response>;
  run(body: unknown): Promise<{ status: number; envelope: Envelope }>;
  /** Waits for /health to say 200. @throws with the log when it takes longer */
  ready(timeoutMs?: number): Promise<void>;
  /** Output since the first start. */
  log(): Promise<string>;
  stop(): Promise<void>;
  start(): Promise<void>;
  remove(): Promise<void>;
}

/** Starts an image with a KEY; `flags` are those of `docker run`. Without a published port it is asked by address. */
export async function startContainer(image: string, flags: string[] = []): Promise<TestContainer> {
  const publish = flags.includes('--network') ? [] : ['--publish', '127.0.0.1::80'];
  const id = await docker('run', '--detach', '--env', 'KEY=e2e', ...publish, ...flags, image);
  return containerOf(id, publish.length > 0);
}

function containerOf(id: string, published: boolean): TestContainer {
  const address = () => (published ? publishedAddress(id) : internalAddress(id));
  const request: TestContainer['request'] = async (path, body) => {
    const options = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const headers = { 'content-type': 'application/json' };
    return fetch(`${await address()}${path}`, { ...options, headers, signal: AbortSignal.timeout(60_000) });
  };
  const log = async () => {
    const { stdout, stderr } = await run('docker', ['logs', id]);
    return `${stdout}${stderr}`;
  };
  return {
    id,
    request,
    async run(body) {
      const response = await request('/run', body);
      return { status: response.status, envelope: (await response.json()) as Envelope };
    },
    async ready(timeoutMs = 60_000) {
      const deadline = Date.now() + timeoutMs;
      while (Date.now() < deadline) {
        const signal = AbortSignal.timeout(1000);
        const answer = await address()
          .then((url) => fetch(`${url}/health`, { signal }))
          .catch(() => undefined);
        await answer?.body?.cancel();
        if (answer?.ok) return;
        await delay(100);
      }
      throw new Error(`not ready after ${timeoutMs} ms:\n${await log()}`);
    },
    log,
    stop: async () => void (await docker('stop', '--time', '15', id)),
    start: async () => void (await docker('start', id)),
    remove: async () => void (await docker('rm', '--force', '--volumes', id)),
  };
}

async function publishedAddress(id: string): Promise<string> {
  return `http://${(await docker('port', id, '80/tcp')).split('\n')[0]}`;
}

async function internalAddress(id: string): Promise<string> {
  const format = '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}';
  return `http://${await docker('inspect', '--format', format, id)}`;
}
