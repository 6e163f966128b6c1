import { mapMessageMedia } from '../core/message-media.js';
import type { AnyTask, Resolved } from '../tasks/define.js';
import { runnableExample, sampleMedium } from '../tasks/example.js';

/**
 * The request that must succeed before a model counts as ready: the task's example, with a synthetic picture or sound as its media
 * and at most two generated tokens.
 *
 * @param example the model's own example, if the task's does not suit it
 */
export function goldenInput(task: AnyTask, example = task.example): Resolved<unknown> {
  const { params, ...rest } = runnableExample({ ...task, example });
  const short = task.streams ? { params: { ...(params as object), max_new_tokens: 2 } } : { params };
  const { base64: _, ...input } = task.input.parse({ ...rest, ...short }) as Record<string, unknown>;
  const { base64, mediaType } = sampleMedium(task);
  const media = { bytes: Buffer.from(base64, 'base64'), mediaType };
  const { messages } = input;
  return { ...input, ...(messages ? { messages: mapMessageMedia(messages, () => ({ media })) } : {}), media };
}
