import type { ServerResponse } from 'node:http';
import { RunError } from '../core/errors.js';

/**
 * Calls `release` once when the response closes, after the answer or when the caller leaves. Calls it at once if the
 * response is closed already, which may happen during any `await` before; the `close` event is not emitted again.
 */
export function releaseOnClose(response: ServerResponse, release: () => void): void {
  if (response.closed) release();
  else response.once('close', release);
}

/** Ends the work for a caller who has left. */
export function clientClosedRequest(): RunError {
  return new RunError('cancelled', 'the caller went away');
}

/**
 * Writes a chunk of an answer; resolves when it has left this process.
 * @throws RunError `cancelled` when the connection closes before, since Node then never calls back
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
