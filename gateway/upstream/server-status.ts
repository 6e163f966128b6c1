import * as z from 'zod';
import { poll } from '../../runtime/wire/poll.js';

const answer = z.object({
  output: z.object({
    state: z.string(),
    reason: z.string().nullish(),
    memory_bytes: z.object({ server: z.number(), engine: z.number().nullable() }),
  }),
});

/** The answer of a model server's GET /status. */
type ServerStatus = z.output<typeof answer>['output'];

const TIMEOUT_MS = 5000;

/** @throws Error when no server answers, or the answer is not a model server's */
async function readStatus(url: string, signal?: AbortSignal): Promise<ServerStatus> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  const response = await fetch(`${url}/status`, {
    signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
  });
  return answer.parse(await response.json()).output;
}

/** Often at first, when a small model may be ready at any moment; twice a second while gigabytes load. */
const pollPause = (waitedMs: number) => Math.min(500, Math.max(20, waitedMs / 20));

/** A server answers within a second of its start, also while it downloads and loads. */
const SILENT_MS = 120_000;

/**
 * Waits until the server has loaded its model.
 * @throws Error with the reason when loading fails, when the server is silent for `silentMs`, or the abort reason
 */
export async function waitUntilReady(url: string, signal: AbortSignal, silentMs = SILENT_MS): Promise<void> {
  let lastAnswer = performance.now();
  const isReady = (status: ServerStatus | undefined) => {
    if (status) lastAnswer = performance.now();
    if (performance.now() - lastAnswer > silentMs)
      throw new Error(`has not answered for ${silentMs / 1000} s`);
    if (status?.state === 'failed') throw new Error(status.reason ?? 'its model can not be loaded');
    return status?.state === 'ready';
  };
  // Errors are expected before it listens; the end of its process is noticed elsewhere.
  await poll(() => readStatus(url, signal).catch(() => undefined), isReady, { everyMs: pollPause, signal });
}

/** @returns true if the server answers, even if its model has failed */
export async function isServerAlive(url: string): Promise<boolean> {
  return fetch(`${url}/livez`, { signal: AbortSignal.timeout(TIMEOUT_MS) }).then(
    (response) => response.ok,
    () => false,
  );
}

/** Bytes of memory that the server and its engine process use now. */
export async function readServerMemory(url: string): Promise<number> {
  const { memory_bytes: memory } = await readStatus(url);
  return memory.server + (memory.engine ?? 0);
}
