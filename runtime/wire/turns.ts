import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import pLimit from 'p-limit';
import { clientClosedRequest } from './lifetime.js';

/** Longest time that this work blocks the event loop. */
const TURN_MS = 4;

/** Yields to the event loop when the turn is used up. @throws RunError `cancelled` when the caller has left */
export type YieldTurn = () => Promise<void> | undefined;

/** Shared by all requests: concurrent jobs would each block the event loop in turn. */
const oneAtATime = pLimit(1);

/**
 * Runs a job in short turns of the event loop, one job at a time, so that other requests wait for one turn at most, however
 * many large bodies arrive.
 */
export function inTurns<T>(response: ServerResponse, work: (pause: YieldTurn) => Promise<T>): Promise<T> {
  return oneAtATime(async () => {
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
