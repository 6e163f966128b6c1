/**
 * Why an answer ended: an end token or stop string (`stop`), or a limit of length or time (`length`). `tool_calls`: it ended by
 * itself, and calls tools.
 */
export type FinishReason = 'stop' | 'length' | 'tool_calls';

/** Tokens of a request, for models that count them. */
export interface Usage {
  /** Tokens read, including special ones, excluding truncated ones. */
  tokensIn: number;
  /** Tokens generated for all answers, end tokens included; absent if the task generates none. */
  tokensOut?: number;
  /** Those of them that the model thought with, before its answers; where they were told apart. */
  reasoningTokens?: number;
  /** One for each answer. */
  finish?: FinishReason[];
  /** Index of the stop string that ended each answer, or null; absent where none has ended one. */
  stops?: (number | null)[];
}

/** Headers of JSON answers with the usage. */
export const USAGE_HEADERS = {
  tokensIn: 'inference-tokens-in',
  tokensOut: 'inference-tokens-out',
  reasoningTokens: 'inference-tokens-reasoning',
  finish: 'inference-finish-reason',
  stops: 'inference-stop-index',
} as const satisfies Record<keyof Usage, string>;
