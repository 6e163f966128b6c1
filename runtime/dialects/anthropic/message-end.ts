import type { ChatRequest } from '../chat/request.js';
import type { FinishReason, Usage } from '../../core/usage.js';

const STOP_REASONS: Readonly<Record<FinishReason, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
};

/** Anthropic's names of what ended an answer. @param stop the stop strings that were asked for */
export function endOf(usage: Usage | undefined, finish: FinishReason, stop: readonly string[] = []) {
  const by = usage?.stops?.[0];
  const stop_sequence = by == null ? null : (stop[by] ?? null);
  return { stop_reason: stop_sequence === null ? STOP_REASONS[finish] : 'stop_sequence', stop_sequence };
}

/** The stop strings of a request. */
export const stopsOf = ({ params }: ChatRequest): string[] => (params['stop'] ?? []) as string[];

/** Tokens of an answer; null if nobody has counted them, as some servers of others don't. */
export const countsOf = (usage: Usage | undefined) => ({
  input_tokens: usage?.tokensIn ?? null,
  output_tokens: usage ? (usage.tokensOut ?? 0) : null,
});

/** As `countsOf`; no prompt is kept for its caller. */
export const usageOf = (usage: Usage | undefined) => ({
  ...countsOf(usage),
  ...{ cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
});
