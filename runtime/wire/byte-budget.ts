import type { ServerResponse } from 'node:http';
import { RunError } from '../core/errors.js';
import { clientClosedRequest, releaseOnClose } from './lifetime.js';

/**
 * Reserves bytes for a request; a negative number releases some.
 * @throws RunError 503 when the budget is used up, `cancelled` when the response is closed
 */
export type ReserveBytes = (bytes: number) => void;

/** Limits the memory for request bodies of all running requests, so that a burst gets 503s and does not end the process. */
export interface ByteBudget {
  /** Opens an account; its bytes are released when the response closes. */
  open(response: ServerResponse): ReserveBytes;
  /** Bytes of all accounts. */
  readonly held: number;
}

/** @param maxBytes limit over all requests (MAX_PENDING_BYTES); a single request may exceed it */
export function createByteBudget(maxBytes: number): ByteBudget {
  let held = 0;
  return {
    get held() {
      return held;
    },
    open(response) {
      let reserved = 0;
      let isClosed = false;
      releaseOnClose(response, () => {
        held -= reserved;
        isClosed = true;
      });
      return (bytes) => {
        if (isClosed && bytes < 0) return;
        if (isClosed) throw clientClosedRequest();
        if (bytes > 0 && held > reserved && held + bytes > maxBytes) {
          const message = `the requests under way hold ${held} bytes already (MAX_PENDING_BYTES)`;
          throw new RunError('overloaded', message, { retryAfter: 2 });
        }
        reserved += bytes;
        held += bytes;
      };
    },
  };
}
