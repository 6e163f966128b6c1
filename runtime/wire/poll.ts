import { setTimeout as sleep } from 'node:timers/promises';

export interface PollOptions {
  /** Between an answer and the next question. */
  everyMs: number;
  signal?: AbortSignal;
}

/**
 * Asks again and again until an answer will do.
 * @param isDone told of each answer; ends the wait by throwing, too
 * @returns the answer that will do
 * @throws what `ask` and `isDone` throw, and the signal's reason
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
