import * as z from 'zod';
import { poll } from '../../runtime/wire/poll.js';
import type { IsolatedContainer } from '../docker/isolated.js';
import { BuilderError } from '../exit.js';

export interface InsideAnswer {
  status: number;
  contentType: string;
  bytes: Buffer;
}

/** Any request to the server of a container. */
export interface InsideCall {
  method: string;
  path: string;
  headers?: Readonly<Record<string, string>>;
  body?: Buffer;
  timeoutMs?: number;
}

/**
 * Script that runs inside the container: reads the request's body from stdin, writes the answer to stdout as one JSON line.
 * It gets the body's length, because engines don't always forward the end of stdin.
 */
const ASK = `
import { request } from 'node:http';
const { method, path, headers, length, timeoutMs } = JSON.parse(process.argv.at(-1));
const chunks = [];
let missing = length;
if (missing > 0)
  for await (const chunk of process.stdin) {
    chunks.push(chunk);
    if ((missing -= chunk.length) <= 0) break;
  }
const fail = (error) => { console.error(String(error)); process.exit(1); };
const sized = length > 0 ? { ...headers, 'content-length': String(length) } : headers;
const options = { host: '127.0.0.1', port: Number(process.env.PORT || 80), method, path, headers: sized, agent: false };
const sent = request(options, async (answer) => {
  try {
    const parts = [];
    for await (const part of answer) parts.push(part);
    const base64 = Buffer.concat(parts).toString('base64');
    console.log(JSON.stringify({ status: answer.statusCode, headers: answer.headers, base64 }));
    process.stdin.destroy();
  } catch (error) { fail(error); }
});
sent.on('error', fail).setTimeout(timeoutMs, () => fail('Error: no answer within ' + timeoutMs / 1000 + ' s'));
sent.end(Buffer.concat(chunks));
`;

/**
 * Sends a request to the server of a container from inside it, since it has no network. Also works with remote engines.
 * @throws BuilderError `failure` when nothing answers, or the container has ended
 */
export async function callInside(
  container: IsolatedContainer,
  { method, path, headers = {}, body, timeoutMs = 10_000 }: InsideCall,
): Promise<InsideAnswer & { headers: Record<string, string> }> {
  const given = JSON.stringify({ method, path, headers, length: body?.length ?? 0, timeoutMs });
  const { code, stdout, stderr } = await container.exec(
    ['node', '--input-type=module', '--eval', ASK, '--', given],
    {
      ...(body === undefined ? {} : { stdin: body }),
      // The image's own NODE_OPTIONS are for its server, not for this script.
      env: { NODE_OPTIONS: '' },
    },
  );
  if (code !== 0)
    throw new BuilderError('failure', `the server does not answer ${path}: ${lastLine(stderr)}`);
  const answer = INSIDE_ANSWER.parse(JSON.parse(stdout.toString('utf8')));
  const named = Object.entries(answer.headers).map(([name, value]) => [name, [value].flat().join(', ')]);
  const all = Object.fromEntries(named) as Record<string, string>;
  return {
    status: answer.status,
    headers: all,
    contentType: all['content-type'] ?? '',
    bytes: Buffer.from(answer.base64, 'base64'),
  };
}

/** What the script writes; the image's own Node.js runs it, so it is not trusted. */
const INSIDE_ANSWER = z.object({
  status: z.int(),
  headers: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
  base64: z.string(),
});

/** GET, or with a body POST of JSON. @throws as callInside */
export function askInside(
  container: IsolatedContainer,
  { path, body, timeoutMs }: { path: string; body?: unknown; timeoutMs?: number },
): Promise<InsideAnswer> {
  const timeout = timeoutMs === undefined ? {} : { timeoutMs };
  if (body === undefined) return callInside(container, { method: 'GET', path, ...timeout });
  const headers = { 'content-type': 'application/json' };
  const sent = Buffer.from(JSON.stringify(body));
  return callInside(container, { method: 'POST', path, headers, body: sent, ...timeout });
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
