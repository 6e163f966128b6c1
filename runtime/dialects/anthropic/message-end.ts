import type { FinishReason, Usage } from '../../core/usage.js';

const STOP_REASONS: Readonly<Record<FinishReason, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
};

/** Anthropic's names of what ended an answer. */
export const stopReason = (finish: FinishReason): string => STOP_REASONS[finish];

/** Tokens of an answer; no prompt is kept for its caller. */
export const usageOf = (usage: Usage | undefined) => ({
  ...{ input_tokens: usage?.tokensIn ?? 0, output_tokens: usage?.tokensOut ?? 0 },
  ...{ cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
});
