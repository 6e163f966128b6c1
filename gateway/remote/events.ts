import type { Readable } from 'node:stream';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { malformed } from './faults.js';

/** An event of a provider's stream. */
export type ServerEvent = Pick<EventSourceMessage, 'event' | 'data'>;

/** Largest event: one piece of an answer. */
const MOST_CHARACTERS = 2 ** 22;

/**
 * Reads server-sent events.
 * @throws RunError `remote_failed` for an event that is too large; what the stream throws
 */
export async function* readServerEvents(body: Readable, modelId: string): AsyncGenerator<ServerEvent> {
  const events: ServerEvent[] = [];
  const parser = createParser({ onEvent: (event) => events.push(event) });
  const decoder = new TextDecoder();
  let pending = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    const text = decoder.decode(chunk, { stream: true });
    pending += text.length;
    parser.feed(text);
    if (events.length > 0) pending = 0;
    if (pending > MOST_CHARACTERS)
      throw malformed(modelId, `sends events of more than ${MOST_CHARACTERS} bytes`);
    yield* events.splice(0);
  }
}
