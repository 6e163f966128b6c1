import { engineOf } from '../core/engines.js';
import type { EngineId } from '../core/spec.js';
import { mapMessageMedia } from '../core/message-media.js';
import type { AnyTask, Resolved } from '../tasks/define.js';
import { runnableExample, sampleMedium } from '../tasks/example.js';

/** Of a video. */
const FRAMES = 4;

/**
 * The request that must succeed before a model counts as ready: the task's example, with a synthetic image or audio as its media
 * at most two generated tokens, and few frames of a video: models that read all of them have thousands of tokens for them.
 *
 * @param own the model's own example, if the task's does not suit it, and its engine
 */
export function goldenInput(
  task: AnyTask,
  { example = task.example, engine }: { example?: Record<string, unknown> | undefined; engine: EngineId },
): Resolved<unknown> {
  const { params, ...rest } = runnableExample({ ...task, example });
  const short = { ...(params as object), max_new_tokens: 2 };
  const wanted = engineOf(engine).runs === 'per-token' ? [{ ...short, num_frames: FRAMES }, short] : [];
  // Tasks whose answers have a length of their own don't take it, and few tasks are about videos.
  const taken = wanted.find((some) => task.input.safeParse({ ...rest, params: some }).success);
  const { base64: _, ...input } = task.input.parse({ ...rest, params: taken ?? params }) as Record<
    string,
    unknown
  >;
  const { base64, mediaType } = sampleMedium(task);
  const media = { bytes: Buffer.from(base64, 'base64'), mediaType };
  const { messages } = input;
  return { ...input, ...(messages ? { messages: mapMessageMedia(messages, () => ({ media })) } : {}), media };
}
