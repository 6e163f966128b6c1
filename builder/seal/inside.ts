import { poll } from '../../runtime/wire/poll.js';
import type { IsolatedContainer } from '../docker/isolated.js';
import { BuilderError } from '../exit.js';

export interface InsideAnswer {
  status: number;
  contentType: string;
  bytes: Buffer;
}

/**
 * Script that runs inside the container: reads the request's body from stdin, writes the answer to stdout as one JSON line.
 * It gets the body's length, because engines don't always forward the end of stdin.
 */
const ASK = `
const [path, timeout, length] = process.argv.slice(-3);
const chunks = [];
let missing = Number(length);
if (missing > 0)
  for await (const chunk of process.stdin) {
    chunks.push(chunk);
    if ((missing -= chunk.length) <= 0) break;
  }
const body = Buffer.concat(chunks);
const request = body.length ? { method: 'POST', headers: { 'content-type': 'application/json' }, body } : {};
const url = 'http://127.0.0.1:' + (process.env.PORT || 80) + path;
const answer = await fetch(url, { ...request, signal: AbortSignal.timeout(Number(timeout)) });
const base64 = Buffer.from(await answer.arrayBuffer()).toString('base64');
console.log(JSON.stringify({ status: answer.status, contentType: answer.headers.get('content-type') ?? '', base64 }));
process.stdin.destroy();
`;

/**
 * Sends a request to the server of a container from inside it, since it has no network. Also works with remote engines.
 * @throws BuilderError `failure` when nothing answers, or the container has ended
 */
export async function askInside(
  container: IsolatedContainer,
  { path, body, timeoutMs = 10_000 }: { path: string; body?: unknown; timeoutMs?: number },
): Promise<InsideAnswer> {
  const sent = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
  const given = [path, String(timeoutMs), String(sent?.length ?? 0)];
  const { code, stdout, stderr } = await container.exec(
    ['node', '--input-type=module', '--eval', ASK, '--', ...given],
    {
      ...(sent === undefined ? {} : { stdin: sent }),
      // The image's own NODE_OPTIONS are for its server, not for this script.
      env: { NODE_OPTIONS: '' },
    },
  );
  if (code !== 0)
    throw new BuilderError('failure', `the server does not answer ${path}: ${lastLine(stderr)}`);
  const { base64, ...answer } = JSON.parse(stdout.toString('utf8')) as {
    status: number;
    contentType: string;
    base64: string;
  };
  return { ...answer, bytes: Buffer.from(base64, 'base64') };
}

const RUN_TIMEOUT_MS = 600_000;

/** Runs the model, which may take long. */
export function runInside(container: IsolatedContainer, body: unknown): Promise<InsideAnswer> {
  return askInside(container, { path: '/run', body, timeoutMs: RUN_TIMEOUT_MS });
}

function lastLine(text: string): string {
  const told = text.split('\n').filter((line) => /Error|error/.test(line));
  return told[0]?.trim() ?? text.trim().split('\n').at(-1) ?? '';
}

export interface InsideStatus {
  state: string;
  reason: string | null;
  /** Example request of the model. */
  example: Record<string, unknown>;
  [detail: string]: unknown;
}

const POLL_MS = 300;

/**
 * Waits until the server of a container is ready.
 * @returns its /status
 * @throws BuilderError `failure` with the reason when loading fails, the container ends, or the time is up
 */
export async function waitUntilReadyInside(
  container: IsolatedContainer,
  { timeoutMs = 600_000 }: { timeoutMs?: number } = {},
): Promise<InsideStatus> {
  const end = performance.now() + timeoutMs;
  const ended = container.wait().then((code) => {
    throw new BuilderError('failure', `the container ended with status ${code} before it was ready`);
  });
  // Avoids an unhandled rejection: it also ends normally later.
  ended.catch(() => undefined);
  const isReady = (status: InsideStatus | undefined) => {
    if (status?.state === 'ready') return true;
    if (status?.state === 'failed')
      throw new BuilderError('failure', `the model is not loaded: ${status.reason}`);
    if (performance.now() > end)
      throw new BuilderError('failure', `the model is not ready after ${timeoutMs / 1000} s`);
    return false;
  };
  const status = await poll(() => Promise.race([statusInside(container), ended]), isReady, {
    everyMs: POLL_MS,
  });
  return status!;
}

/** Undefined while the server does not listen. */
async function statusInside(container: IsolatedContainer): Promise<InsideStatus | undefined> {
  const answer = await askInside(container, { path: '/status' }).catch(() => undefined);
  if (answer?.status !== 200) return undefined;
  return (JSON.parse(answer.bytes.toString('utf8')) as { output: InsideStatus }).output;
}

/** Name of the container's CPU. */
export async function cpuInside(container: IsolatedContainer): Promise<string> {
  const command = ['node', '--print', 'require("os").cpus()[0]?.model ?? ""'];
  const { stdout } = await container.exec(command, { env: { NODE_OPTIONS: '' } });
  return stdout.toString('utf8').trim() || 'unknown';
}
