import type { Response } from 'express';
import { writeChunk } from '../../../runtime/wire/lifetime.js';
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
    for await (const chunk of chunks) await writeChunk(response, eventOf(chunk));
  } catch (error) {
    // Nobody may be there any more to be told.
    await Promise.allSettled([writeChunk(response, eventOf({ error: openAiError(asRunError(error)) }))]);
    throw error;
  }
  response.end('data: [DONE]\n\n');
}

function eventOf(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}
