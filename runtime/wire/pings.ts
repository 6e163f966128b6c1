import type { Response } from 'express';

/** Proxies cut connections that are silent for a minute, some for less. */
export const PING_MS = 15_000;

/**
 * Sends comments of server-sent events while an answer has not begun, so that no proxy takes the connection for dead.
 * @param open sends status and headers, where they have not been sent; what fails from then on is told by an event
 * @returns ends it, when the first piece has come or nothing will
 */
export function pingUntilBegun(response: Response, open: () => void): () => void {
  const stop = () => clearInterval(timer);
  const timer = setInterval(() => {
    if (response.destroyed || response.writableEnded) return stop();
    open();
    response.write(': ping\n\n');
  }, PING_MS);
  timer.unref();
  response.once('close', stop);
  return stop;
}
