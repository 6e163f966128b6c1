/** Why an answer ended: by itself (an end token, a stop string), or because there was no room or time for more. */
export type FinishReason = 'stop' | 'length';

/** What a request came to, where the model counts tokens. */
export interface Usage {
  /** Tokens of the text that the model read: special ones are counted, what was cut off is not. */
  tokensIn: number;
  /** Tokens that all answers together were made of, those that ended them included; absent where none are made. */
  tokensOut?: number;
  /** One for each answer. */
  finish?: FinishReason[];
}

/** Headers of a JSON answer that say it. */
export const USAGE_HEADERS = {
  tokensIn: 'inference-tokens-in',
  tokensOut: 'inference-tokens-out',
  finish: 'inference-finish-reason',
} as const satisfies Record<keyof Usage, string>;
