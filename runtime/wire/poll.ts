import { setTimeout as sleep } from 'node:timers/promises';

export interface PollOptions {
  /** Pause between an answer and the next request. */
  everyMs: number;
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
  for (;;) {
    const answer = await ask();
    signal?.throwIfAborted();
    if (isDone(answer)) return answer;
    await sleep(everyMs, undefined, { signal }).catch(() => signal?.throwIfAborted());
  }
}
