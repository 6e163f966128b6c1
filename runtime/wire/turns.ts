import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import pLimit from 'p-limit';
import { clientClosedRequest } from './lifetime.js';

/** Longest time that work in turns keeps everybody else waiting at once. */
const TURN_MS = 4;

/** Lets the event loop turn where the work has lasted long enough. @throws RunError `cancelled` when the caller has left */
export type YieldTurn = () => Promise<void> | undefined;

/** One for all: side by side, each would take a turn before anybody else is served. */
const one = pLimit(1);

/**
 * Does the work that a caller's bytes cause in short turns of the event loop, one such work after the other: however
 * many large bodies have come, whoever asks for health waits for one turn.
 */
export function inTurns<T>(response: ServerResponse, work: (pause: YieldTurn) => Promise<T>): Promise<T> {
  return one(async () => {
    let since = 0;
    const rest = async () => {
      await nextTurn();
      if (response.closed) throw clientClosedRequest();
      since = performance.now();
    };
    await rest();
    return work(() => (performance.now() - since < TURN_MS ? undefined : rest()));
  });
}
