import { poll } from '../runtime/wire/poll.js';

const POLL_EVERY_MS = 250;
/** Short, because a packet sent before the container has its network is only repeated after seconds. */
const TIMEOUT_MS = 1000;

export interface WaitOptions {
  /** Aborts the wait; the promise then rejects. */
  signal: AbortSignal;
  /** Called with each new reason why the server is not ready. */
  onWaiting: (reason: string) => void;
  everyMs?: number;
}

/** Polls `/health` of a server until it answers 200, without a time limit. */
export async function waitForHealth(
  address: string,
  { signal, onWaiting, everyMs = POLL_EVERY_MS }: WaitOptions,
): Promise<void> {
  let last: string | undefined;
  const isReady = (answer: string | undefined) => {
    if (answer === 'ready') return true;
    if (answer !== undefined && answer !== last) onWaiting((last = answer));
    return false;
  };
  await poll(() => askHealth(address), isReady, { everyMs, signal });
}

async function askHealth(address: string): Promise<string | undefined> {
  try {
    const answer = await fetch(`${address}/health`, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (answer.ok) return 'ready';
    return ((await answer.json()) as { error?: string }).error;
  } catch {
    // Not listening yet.
    return undefined;
  }
}
