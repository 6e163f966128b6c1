import * as z from 'zod';
import type { FinishReason, Usage } from '../../../runtime/core/usage.js';
import { filtered } from '../faults.js';

const count = z.int().min(0);

/** Tokens as OpenAI's interface tells them. */
export const usageField = z
  .object({
    prompt_tokens: count,
    completion_tokens: count.nullish(),
    completion_tokens_details: z.object({ reasoning_tokens: count.nullish() }).nullish(),
  })
  .nullish()
  // Some servers send an object without numbers until the end.
  .catch(null);

type Told = z.output<typeof usageField>;

/** Undefined if the provider does not tell it. */
export function usageOf(told: Told, finish?: FinishReason[]): Usage | undefined {
  if (!told) return undefined;
  const reasoningTokens = told.completion_tokens_details?.reasoning_tokens;
  return {
    tokensIn: told.prompt_tokens,
    ...(told.completion_tokens == null ? {} : { tokensOut: told.completion_tokens }),
    ...(reasoningTokens == null ? {} : { reasoningTokens }),
    ...(finish ? { finish } : {}),
  };
}

/** Why an answer ended. @throws RunError if its provider has withheld a part of it */
export function finishOf(modelId: string, reason: string | null | undefined, calls = 0): FinishReason {
  if (reason === 'content_filter') throw filtered(modelId);
  if (reason === 'length') return 'length';
  return calls > 0 ? 'tool_calls' : 'stop';
}
