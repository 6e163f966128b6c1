import { setTimeout as sleep } from 'node:timers/promises';

export interface PollOptions {
  /** Pause between an answer and the next request; it may depend on how long has been polled. */
  everyMs: number | ((waitedMs: number) => number);
  signal?: AbortSignal;
}

/**
 * Polls until `isDone` returns true.
 * @param isDone called with each answer; may throw to end the polling
 * @returns the last answer
 * @throws errors of `ask` and `isDone`, and the abort reason
 */
export async function poll<Answer>(
  ask: () => Promise<Answer>,
  isDone: (answer: Answer) => boolean,
  { everyMs, signal }: PollOptions,
): Promise<Answer> {
  const started = performance.now();
  const pause = () => (typeof everyMs === 'number' ? everyMs : everyMs(performance.now() - started));
  for (;;) {
    const answer = await ask();
    signal?.throwIfAborted();
    if (isDone(answer)) return answer;
    await sleep(pause(), undefined, { signal }).catch(() => signal?.throwIfAborted());
  }
}
