import type * as z from 'zod';
import { parseAnswer } from '../read-json.js';
import { malformed } from '../faults.js';
import type { ServerEvent } from '../events.js';
import { requireNoError } from '../refusals.js';

/** What ends a stream of OpenAI's interface. */
const END = '[DONE]';

/**
 * Chunks of a stream, up to its end.
 * @throws RunError for one that tells of an error, or that is something else
 */
export async function* chunksOf<S extends z.ZodType>(
  modelId: string,
  events: AsyncIterable<ServerEvent>,
  schema: S,
): AsyncGenerator<z.output<S>> {
  for await (const { data } of events) {
    if (data === END) return;
    const json = parseAnswer(data, modelId);
    requireNoError(json, modelId);
    const parsed = schema.safeParse(json);
    if (!parsed.success) throw malformed(modelId, 'streams something else than OpenAI’s interface has');
    yield parsed.data;
  }
}
