/** Tokens of texts, without running the model. */

import type { ChatMessage } from './generation.js';

/** Texts, a conversation or lists of ids; the bodies of POST /run have it under `tokenizer`. */
export type TokenizerRequest =
  | TokenizedTexts
  | TokenizedChat
  | { decode: number[][]; skip_special_tokens?: boolean | null | undefined }
  | { info: true };

export interface TokenizedTexts {
  encode: string[];
  add_special_tokens?: boolean | null | undefined;
  /** Of a prompt of the repository, which is put before each. */
  prompt_name?: string | null | undefined;
}

/** A conversation as the chat template writes it. */
export interface TokenizedChat {
  messages: ChatMessage[];
  /** Further variables of the template. */
  variables?: Record<string, unknown> | null | undefined;
  /** True: the last message goes on. */
  continue_final_message?: boolean | null | undefined;
  /** False: nothing asks for an answer. */
  add_generation_prompt?: boolean | null | undefined;
  /** True: also what the tokenizer puts around texts. */
  add_special_tokens?: boolean | null | undefined;
}

/** A token of a text. */
export interface TokenSpan {
  id: number;
  /** What it stands for in the text; of those that are not in it, their name. */
  text: string;
  /** As the vocabulary has it. */
  token: string;
  special: boolean;
  /** Bytes [start, stop) of the text in UTF-8; null of tokens that are not in it. */
  start: number | null;
  stop: number | null;
}

export type TokenizerAnswer =
  /** `max_length`: most tokens that the model takes, where that is known. */
  | { tokens: TokenSpan[][]; max_length: number | null }
  | { texts: string[] }
  /** tokenizer_config.json, as it is computed by. */
  | { info: Record<string, unknown> };
