import type { Response } from 'express';
import { asRunError } from '../../../runtime/wire/respond.js';
import { openAiError } from './errors.js';

/**
 * Sends chunks as server-sent events, no faster than the caller takes them, and OpenAI's end mark. Chunks that end in
 * an error are followed by one that says so, and throw it: the connection is cut, no client takes them for complete.
 */
export async function sendEvents(response: Response, chunks: AsyncIterable<object>): Promise<void> {
  response.status(200).setHeader('Content-Type', 'text/event-stream; charset=utf-8');
  response.setHeader('Cache-Control', 'no-cache');
  response.setHeader('X-Accel-Buffering', 'no');
  try {
    for await (const chunk of chunks) await written(response, chunk);
  } catch (error) {
    // Nobody may be there any more to be told.
    await Promise.allSettled([written(response, { error: openAiError(asRunError(error)) })]);
    throw error;
  }
  response.end('data: [DONE]\n\n');
}

/** Settles when the event has left this process: what waits in it is lost when the connection is cut. */
function written(response: Response, data: object): Promise<void> {
  return new Promise((resolve, reject) => {
    response.write(`data: ${JSON.stringify(data)}\n\n`, (error) => (error ? reject(error) : resolve()));
  });
}
