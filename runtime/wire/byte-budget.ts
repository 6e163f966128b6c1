import type { Response } from 'express';
import { RunError } from '../core/errors.js';

/**
 * Adds bytes that a request has brought, or is about to.
 * @throws RunError 503 when too many are held already
 */
export type Hold = (bytes: number) => void;

/** Memory that requests under way may fill with what callers send: a burst is a 503, not the end of the process. */
export interface ByteBudget {
  /** Begins an account that is closed with the response. */
  open(response: Response): Hold;
}

/** @param maxBytes limit over all requests (MAX_PENDING_BYTES); the first one is let in whatever it brings */
export function createByteBudget(maxBytes: number): ByteBudget {
  let held = 0;
  return {
    open(response) {
      let mine = 0;
      response.once('close', () => (held -= mine));
      return (bytes) => {
        if (held > mine && held + bytes > maxBytes) {
          const message = `the requests under way hold ${held} bytes already (MAX_PENDING_BYTES)`;
          throw new RunError('overloaded', message, { retryAfter: 2 });
        }
        mine += bytes;
        held += bytes;
      };
    },
  };
}
