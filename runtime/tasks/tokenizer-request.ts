import * as z from 'zod';
import { RunError } from '../core/errors.js';
import type { TokenizerRequest } from '../core/handles/index.js';
import type { TaskId } from '../core/task-ids.js';
import type { AnyTask } from './define.js';

/** Texts, or lists of ids, of one request. */
const MAX_ITEMS = 2048;
/** UTF-16 units of a text: its tokens are made in one go. */
const MAX_TEXT = 2 ** 18;

const flag = z.boolean().nullish();
const textOf = z.string().max(MAX_TEXT, `must have at most ${MAX_TEXT} characters`);

const encode = z.strictObject({
  encode: z.array(textOf).min(1).max(MAX_ITEMS),
  add_special_tokens: flag,
  prompt_name: z.string().min(1).nullish(),
});

const info = z.strictObject({ info: z.literal(true) });

const block = z.object({ type: z.literal('text'), text: textOf });

const chat = z.strictObject({
  messages: z
    .array(z.looseObject({ role: z.string().min(1), content: z.union([textOf, z.array(block)]).nullish() }))
    .min(1),
  variables: z.record(z.string(), z.unknown()).nullish(),
  ...{ continue_final_message: flag, add_generation_prompt: flag, add_special_tokens: flag },
});

const decode = z.strictObject({
  decode: z
    .array(z.array(z.int().min(0)))
    .min(1)
    .max(MAX_ITEMS),
  skip_special_tokens: flag,
});

/**
 * What the `tokenizer` of a body of POST /run asks.
 * @throws RunError 400 for what can't be read, and for a task that reads no text
 */
export function readTokenizerRequest(id: TaskId, task: AnyTask, asked: unknown): TokenizerRequest {
  const isText = task.profile === 'text' && ['text', 'messages'].includes(task.modality);
  if (!isText) throw new RunError('invalid_input', `tokenizer: ${id} has none that can be asked`);
  if (typeof asked === 'object' && asked !== null && 'messages' in asked && task.modality !== 'messages')
    throw new RunError('invalid_input', `tokenizer.messages: ${id} has no conversations`);
  const parsed = schemaOf(asked).safeParse(asked);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new RunError('invalid_input', `${['tokenizer', ...issue!.path].join('.')}: ${issue!.message}`);
}

function schemaOf(asked: unknown): z.ZodType<TokenizerRequest> {
  const given = Object(asked) as object;
  if ('decode' in given) return decode;
  if ('info' in given) return info;
  return 'messages' in given ? chat : encode;
}
