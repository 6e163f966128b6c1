import { z } from 'zod';
import { poll } from '../../runtime/wire/poll.js';

const answer = z.object({
  output: z.object({
    state: z.string(),
    reason: z.string().nullish(),
    memory_bytes: z.object({ server: z.number(), engine: z.number().nullable() }),
  }),
});

/** What a model server says of itself. */
type ServerStatus = z.output<typeof answer>['output'];

const TIMEOUT_MS = 5000;

/** @throws Error when nobody answers there, or nobody of ours */
async function readStatus(url: string, signal?: AbortSignal): Promise<ServerStatus> {
  const late = AbortSignal.timeout(TIMEOUT_MS);
  const response = await fetch(`${url}/status`, { signal: signal ? AbortSignal.any([signal, late]) : late });
  return answer.parse(await response.json()).output;
}

const POLL_MS = 100;

/** A server answers within a second of its start, and all the while it downloads and loads. */
const SILENT_MS = 120_000;

/**
 * Waits until the server has loaded its model.
 * @throws Error with its reason when it can't, when it is silent for `silentMs`, or the signal's reason
 */
export async function waitUntilReady(url: string, signal: AbortSignal, silentMs = SILENT_MS): Promise<void> {
  let heard = performance.now();
  const isReady = (status: ServerStatus | undefined) => {
    if (status) heard = performance.now();
    if (performance.now() - heard > silentMs) throw new Error(`has not answered for ${silentMs / 1000} s`);
    if (status?.state === 'failed') throw new Error(status.reason ?? 'its model can not be loaded');
    return status?.state === 'ready';
  };
  // Nobody listens yet; that its process has ended is seen elsewhere.
  await poll(() => readStatus(url, signal).catch(() => undefined), isReady, { everyMs: POLL_MS, signal });
}

/** @returns false when nobody answers there; a model that is ill is another matter */
export async function isServerAlive(url: string): Promise<boolean> {
  return fetch(`${url}/livez`, { signal: AbortSignal.timeout(TIMEOUT_MS) }).then(
    (response) => response.ok,
    () => false,
  );
}

/** Bytes of memory that the server and its engine take now. */
export async function readServerMemory(url: string): Promise<number> {
  const { memory_bytes: memory } = await readStatus(url);
  return memory.server + (memory.engine ?? 0);
}
