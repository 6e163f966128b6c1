import type { ServerResponse } from 'node:http';
import { RunError } from '../core/errors.js';
import { clientClosedRequest, releaseOnClose } from './lifetime.js';

/**
 * Adds bytes that a request has brought, or is about to; fewer than none are given back.
 * @throws RunError 503 when too many are held already, `cancelled` when the response is over
 */
export type ReserveBytes = (bytes: number) => void;

/** Memory that requests under way may fill with what callers send: a burst is a 503, not the end of the process. */
export interface ByteBudget {
  /** Begins an account that is closed with the response. */
  open(response: ServerResponse): ReserveBytes;
  /** Bytes of all accounts. */
  readonly held: number;
}

/** @param maxBytes limit over all requests (MAX_PENDING_BYTES); the first one is let in whatever it brings */
export function createByteBudget(maxBytes: number): ByteBudget {
  let held = 0;
  return {
    get held() {
      return held;
    },
    open(response) {
      let mine = 0;
      let over = false;
      releaseOnClose(response, () => {
        held -= mine;
        over = true;
      });
      return (bytes) => {
        if (over && bytes < 0) return;
        if (over) throw clientClosedRequest();
        if (bytes > 0 && held > mine && held + bytes > maxBytes) {
          const message = `the requests under way hold ${held} bytes already (MAX_PENDING_BYTES)`;
          throw new RunError('overloaded', message, { retryAfter: 2 });
        }
        mine += bytes;
        held += bytes;
      };
    },
  };
}
