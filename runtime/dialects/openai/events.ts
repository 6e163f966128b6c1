import type { Response } from 'express';
import { writeChunk } from '../../wire/lifetime.js';
import { asRunError } from '../../wire/respond.js';
import { openEvents } from '../events.js';
import { openAiError } from './errors.js';

/**
 * Sends chunks as server-sent events with backpressure, then OpenAI's end mark. If `chunks` throws, an error event is
 * sent and the error is thrown on, which closes the connection, so no client takes the stream for complete.
 */
export async function sendEvents(response: Response, chunks: AsyncIterable<object>): Promise<void> {
  openEvents(response);
  try {
    for await (const chunk of chunks) await writeChunk(response, eventOf(chunk));
  } catch (error) {
    // The caller may have left already.
    await Promise.allSettled([writeChunk(response, eventOf({ error: openAiError(asRunError(error)) }))]);
    throw error;
  }
  response.end('data: [DONE]\n\n');
}

function eventOf(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}
