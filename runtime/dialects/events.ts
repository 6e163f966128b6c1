import type { Response } from 'express';
import { pingUntilBegun } from '../wire/pings.js';
import type { AnswerPiece, AskedModel } from './host.js';

/** Begins an answer of server-sent events, unless it has begun. */
export function openEvents(response: Response): void {
  if (response.headersSent) return;
  // Not `response.status`: some responses never saw a router of Express.
  response.statusCode = 200;
  response.setHeader('Content-Type', 'text/event-stream; charset=utf-8');
  response.setHeader('Cache-Control', 'no-cache');
  response.setHeader('X-Accel-Buffering', 'no');
}

/**
 * Asks for an answer that is streamed as events. A prompt that takes long to read is bridged by comments: then the answer has
 * begun, and it is the iterator that throws what goes wrong.
 * @throws RunError as POST /run does, as long as the answer has not begun
 */
export async function streamEvents(
  response: Response,
  asked: AskedModel,
  body: Record<string, unknown>,
): Promise<AsyncIterable<AnswerPiece>> {
  let tellOpened: () => void;
  const opened = new Promise<'opened'>((resolve) => (tellOpened = () => resolve('opened')));
  const stop = pingUntilBegun(response, () => {
    openEvents(response);
    tellOpened();
  });
  const begun = asked.stream(body);
  try {
    await Promise.race([begun, opened]);
  } catch (error) {
    stop();
    throw error;
  }
  return untilFirst(begun, stop);
}

/** A stream that calls `stop` with its first piece, or at its end. */
async function* untilFirst(
  begun: Promise<AsyncIterable<AnswerPiece>>,
  stop: () => void,
): AsyncGenerator<AnswerPiece> {
  try {
    for await (const piece of await begun) {
      stop();
      yield piece;
    }
  } finally {
    stop();
  }
}
