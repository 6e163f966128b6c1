import type { EngineId } from '../core/spec.js';
import { mapMessageMedia } from '../core/message-media.js';
import type { AnyTask, Resolved } from '../tasks/define.js';
import { runnableExample, sampleMedium } from '../tasks/example.js';

/**
 * The request that must succeed before a model counts as ready: the task's example, with a synthetic picture or sound as its media
 * and at most two generated tokens.
 *
 * @param own the model's own example, if the task's does not suit it, and its engine
 */
export function goldenInput(
  task: AnyTask,
  { example = task.example, engine }: { example?: Record<string, unknown> | undefined; engine: EngineId },
): Resolved<unknown> {
  const { params, ...rest } = runnableExample({ ...task, example });
  const short = { ...rest, params: { ...(params as object), max_new_tokens: 2 } };
  // Tasks whose answers have a length of their own don't take it.
  const takesLength = engine === 'generation' && task.input.safeParse(short).success;
  const { base64: _, ...input } = task.input.parse(takesLength ? short : { ...rest, params }) as Record<
    string,
    unknown
  >;
  const { base64, mediaType } = sampleMedium(task);
  const media = { bytes: Buffer.from(base64, 'base64'), mediaType };
  const { messages } = input;
  return { ...input, ...(messages ? { messages: mapMessageMedia(messages, () => ({ media })) } : {}), media };
}
