export interface LikelyToken {
  id: number;
  token: string;
  /** Natural logarithm of its probability under the model itself, before any parameter changes the scores. */
  logprob: number;
  /** The token in UTF-8; a token may be part of a character. */
  bytes: number[];
  /** True for tokens that texts are told without. */
  special?: true;
}

export interface TokenLogprob extends LikelyToken {
  top_logprobs: LikelyToken[];
}
