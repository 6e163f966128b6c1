import type { Readable } from 'node:stream';
import { malformed } from './faults.js';

/** Largest whole answer: a batch of long texts with probabilities. */
const MOST_BYTES = 2 ** 25;

/**
 * Reads an answer of a provider as text.
 * @throws RunError `remote_failed` for one that is too large; what the stream throws
 */
export async function readText(body: Readable, modelId: string, mostBytes = MOST_BYTES): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    length += chunk.length;
    // Leaving the loop closes the connection.
    if (length > mostBytes) throw malformed(modelId, `sends more than ${mostBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** @throws RunError `remote_failed` that quotes nothing: answers must not get into a log */
export function parseAnswer(text: string, modelId: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw malformed(modelId, 'answers with something else than JSON');
  }
}
