import type { ServerResponse } from 'node:http';
import { setImmediate as breathe } from 'node:timers/promises';

export interface Sending {
  /** Write so many bytes at a time and let others run in between; all at once unless set. */
  chunkBytes?: number;
  /** Called when a body begins; what it returns is told of the bytes that have been written. */
  meter?: () => (bytes: number) => void;
}

/** Writes a body, as long as someone takes it. Does not end the answer. */
export async function sendBody(
  response: ServerResponse,
  body: Buffer,
  { chunkBytes = Infinity, meter }: Sending,
): Promise<void> {
  const count = meter?.();
  for (let at = 0; at < body.length && !response.destroyed; at += chunkBytes) {
    const piece = body.subarray(at, at + chunkBytes);
    await new Promise((resolve) => response.write(piece, resolve));
    count?.(piece.length);
    if (chunkBytes !== Infinity) await breathe();
  }
}
