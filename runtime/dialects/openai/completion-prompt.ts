import * as z from 'zod';
import { RunError } from '../../core/errors.js';
import { MEDIA_CHATS, type TaskId } from '../../core/task-ids.js';
import type { ServedModel } from '../host.js';

const MAX_PROMPTS = 128;

const KINDS = 'must be a text or several, or the model’s own token ids, one list or several';

const most = {
  error: ({ input }: { input?: unknown }) =>
    `takes ${MAX_PROMPTS} prompts at most, and there are ${(input as []).length}`,
};
const ids = z.array(z.int({ error: KINDS }).min(0), { error: KINDS }).min(1, 'must have a token at least');

/** A text, token ids, or several of one kind. */
export const prompt = z.union([
  // The lists first: of branches that fail at the same depth, the first one's error is told.
  z
    .array(z.string({ error: KINDS }), { error: KINDS })
    .min(1, 'must have a text at least')
    .max(MAX_PROMPTS, most),
  ids,
  z.array(ids, { error: KINDS }).min(1).max(MAX_PROMPTS, most),
  z.string({ error: KINDS }),
]);

export type Prompt = z.output<typeof prompt>;

/** Tasks whose models have no encoder: their prompts have probabilities, and may be tokens. */
const SCORING: readonly TaskId[] = ['text-generation', 'chat'];

/** Tasks whose prompt is a message without the template. */
const CHATS: readonly TaskId[] = ['chat', ...MEDIA_CHATS];

/** The prompts of a request, each a text or tokens. */
export function promptsOf(given: Prompt): readonly (string | number[])[] {
  if (typeof given === 'string') return [given];
  return isTokens(given) ? [given] : given;
}

const isTokens = (given: Exclude<Prompt, string>): given is number[] => typeof given[0] === 'number';

/**
 * Says first what would be told as an error of one prompt.
 * @throws RunError 400 for too many prompts
 */
export function checkPromptCount(json: unknown): void {
  const { prompt: given } = Object(json) as { prompt?: unknown };
  if (!Array.isArray(given) || given.length <= MAX_PROMPTS || typeof given[0] === 'number') return;
  throw new RunError('invalid_input', `prompt: ${most.error({ input: given })}`);
}

interface Scoring {
  prompt: Prompt;
  n?: number | null | undefined;
  best_of?: number | null | undefined;
  max_tokens?: number | null | undefined;
  stream?: boolean | null | undefined;
  echo?: boolean | null | undefined;
  logprobs?: number | null | undefined;
  prompt_logprobs?: number | null | undefined;
  add_special_tokens?: boolean | null | undefined;
}

/** @throws RunError 400 for what does not go together, or with the model */
export function checkScoring({ modelId, task }: ServedModel, given: Scoring): void {
  const refuse = (field: string, why: string): never => {
    throw new RunError('invalid_input', `${field}: ${why}`);
  };
  const { n, best_of, echo, logprobs, prompt_logprobs } = given;
  if (best_of != null && best_of !== (n ?? 1)) refuse('best_of', 'is not supported but for as many as n');
  if (given.max_tokens === 0 && (n ?? 1) > 1) refuse('n', 'several answers need max_tokens above 0');
  if (prompt_logprobs != null && given.stream)
    refuse('prompt_logprobs', 'has no place in a stream; ask without stream');
  if (SCORING.includes(task)) return;
  const why = `needs a model that reads texts only, without an encoder, and ${modelId} does ${task}`;
  if (typeof given.prompt !== 'string' && typeof given.prompt[0] !== 'string')
    refuse('prompt', `a list of token ids ${why}`);
  if (echo && logprobs != null) refuse('echo', `with logprobs it ${why}`);
  if (prompt_logprobs != null) refuse('prompt_logprobs', why);
  if (given.add_special_tokens === false && !CHATS.includes(task)) refuse('add_special_tokens', why);
}

interface Asking {
  params: Record<string, unknown>;
  echo: boolean;
  add_special_tokens: boolean | null | undefined;
}

/** Body of POST /run for one prompt. The text of tokens is put before the answer there, that of texts here. */
export function bodyOf(
  { task }: ServedModel,
  one: string | number[],
  { params: shared, echo, add_special_tokens }: Asking,
): Record<string, unknown> {
  if (task !== 'text-generation' && !CHATS.includes(task)) return { text: one, params: shared };
  const isText = typeof one === 'string';
  const echoes = echo && !isText;
  const params = {
    ...shared,
    ...(isText ? (add_special_tokens == null ? {} : { add_special_tokens }) : { prompt_token_ids: one }),
  };
  const text = isText ? one : '';
  if (task === 'text-generation') return { text, params: { ...params, return_full_text: echoes } };
  return {
    messages: [{ role: 'user', content: text }],
    params: { ...params, apply_chat_template: false, continue_final_message: echoes },
  };
}
