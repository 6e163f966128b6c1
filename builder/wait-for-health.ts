import { poll } from '../runtime/wire/poll.js';

const EVERY_MS = 250;
/** Short: a packet that is sent before the container has its network is repeated only after seconds. */
const ANSWER_MS = 1000;

export interface WaitOptions {
  /** Ends the wait; the promise then rejects. */
  signal: AbortSignal;
  /** Gets each new reason why the server is not ready. */
  onWaiting: (reason: string) => void;
}

/** Asks `/health` of a server until it says 200, however long a download takes. */
export async function waitForHealth(address: string, { signal, onWaiting }: WaitOptions): Promise<void> {
  let last: string | undefined;
  const isReady = (answer: string | undefined) => {
    if (answer === 'ready') return true;
    if (answer !== undefined && answer !== last) onWaiting((last = answer));
    return false;
  };
  await poll(() => askHealth(address), isReady, { everyMs: EVERY_MS, signal });
}

async function askHealth(address: string): Promise<string | undefined> {
  try {
    const answer = await fetch(`${address}/health`, { signal: AbortSignal.timeout(ANSWER_MS) });
    if (answer.ok) return 'ready';
    return ((await answer.json()) as { error?: string }).error;
  } catch {
    // Not listening yet, or in the middle of its start.
    return undefined;
  }
}
