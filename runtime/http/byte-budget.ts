import type { Response } from 'express';
import { RunError } from '../core/errors.js';

/** Memory that the requests under way may fill with what callers send: a burst is a 503, not the end of the process. */
export interface ByteBudget {
  /**
   * Counts bytes as held until the response is closed. A single request is always let in.
   * @throws RunError 503 when too many are held already
   */
  hold(response: Response, bytes: number): void;
}

/** @param maxBytes limit over all requests (MAX_PENDING_BYTES) */
export function createByteBudget(maxBytes: number): ByteBudget {
  let held = 0;
  return {
    hold(response, bytes) {
      if (held > 0 && held + bytes > maxBytes) {
        const message = `the requests under way hold ${held} bytes already (MAX_PENDING_BYTES)`;
        throw new RunError('overloaded', message, { retryAfter: 2 });
      }
      held += bytes;
      response.once('close', () => (held -= bytes));
    },
  };
}
