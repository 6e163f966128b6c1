import type { ServerResponse } from 'node:http';
import { RunError } from '../core/errors.js';

/**
 * Calls `release` once when the response is over: answered, or its caller gone. At once where that has happened before:
 * whatever is acquired after an `await` is acquired for a response that may be closed by then, and `close` comes once.
 */
export function releaseOnClose(response: ServerResponse, release: () => void): void {
  if (response.closed) release();
  else response.once('close', release);
}

/** What callers who have left are told: nobody reads it, but it ends the work. */
export function clientClosedRequest(): RunError {
  return new RunError('cancelled', 'the caller went away');
}

/**
 * Writes a piece of an answer; settles when it has left this process.
 * @throws RunError `cancelled` when the connection closes before: Node calls no one back about what it threw away
 */
export function writeChunk(response: ServerResponse, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const left = () => reject(clientClosedRequest());
    if (response.closed) return left();
    response.once('close', left);
    response.write(text, (error) => {
      response.off('close', left);
      if (error) reject(error);
      else resolve();
    });
  });
}
