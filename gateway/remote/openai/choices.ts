import type * as z from 'zod';
import { malformed } from '../faults.js';
import type { RemoteCall } from '../kind.js';

/**
 * The body of a whole answer, with as many choices as were asked for.
 * @throws RunError `remote_failed` for anything else
 */
export function readChoices<T extends { choices: unknown[] }>(
  { modelId, params }: RemoteCall,
  schema: z.ZodType<T>,
  json: unknown,
): T {
  const parsed = schema.safeParse(json);
  const wanted = (params['num_return_sequences'] as number | undefined) ?? 1;
  if (!parsed.success || parsed.data.choices.length !== wanted)
    throw malformed(modelId, 'answers with something else than OpenAI’s interface has');
  return parsed.data;
}
