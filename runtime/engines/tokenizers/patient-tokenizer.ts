import type { TokenizedText, TokenizeOptions } from './tokenize.js';
import type { Encoding, EncodeTextOptions, TextTokenizer } from './tokenizer.js';

/** Tokens of a prompt. */
export type EncodePrompt = (
  text: string,
  options: EncodeTextOptions,
  signal?: AbortSignal,
) => Promise<number[]>;

/** The same beside this thread; undefined where there is no room for that. */
export type EncodeAside = (
  text: string,
  options: EncodeTextOptions,
  signal: AbortSignal,
) => Promise<number[]> | undefined;

/** A tokenizer beside this thread; undefined instead of a promise where there is no room for it. */
export interface TokenizerAside {
  encode(text: string, options: EncodeTextOptions, signal: AbortSignal): Promise<Encoding> | undefined;
  tokenize(text: string, options: TokenizeOptions, signal: AbortSignal): Promise<TokenizedText> | undefined;
}

/** What a tokenizer says without reading a text. */
export type TokenizerFacts = Omit<TextTokenizer, 'encode' | 'tokenize'>;

/** A tokenizer that holds the event loop for no text: all that read texts of callers have this one. */
export interface PatientTokenizer extends TokenizerFacts {
  /** As `TextTokenizer.encode`. Rejects with the signal's reason when that aborts while the text is read aside. */
  encode(text: string, options?: EncodeTextOptions, signal?: AbortSignal): Promise<Encoding>;
  /** As `TextTokenizer.tokenize`. */
  tokenize(text: string, options?: TokenizeOptions, signal?: AbortSignal): Promise<TokenizedText>;
}

/**
 * Characters of a text that is worth another thread: fewer take 10 to 150 ms of this one (vocabularies of 50,000 to 262,144 tokens), about
 * the step of a model; 2^18 take 0.5 to 8 s, in which all generations under way would stand still. A limit in tokens helps
 * little: the whole text is normalised and split into words before.
 */
export const LONG_TEXT = 2 ** 13;

const NEVER = new AbortController().signal;

const isLong = (text: string, { pair = '' }: EncodeTextOptions = {}) =>
  text.length + pair.length >= LONG_TEXT;

/** Long prompts are tokenised aside, all others here. */
export const createPromptEncoder =
  (tokenizer: Pick<TextTokenizer, 'encode'>, aside: EncodeAside): EncodePrompt =>
  async (text, options, signal = NEVER) => {
    const ids = isLong(text, options) ? aside(text, options, signal) : undefined;
    return ids ?? tokenizer.encode(text, options).ids;
  };

/** Long texts, and pairs that are long together, are tokenised aside, all others here. */
export function createPatientTokenizer(tokenizer: TextTokenizer, aside: TokenizerAside): PatientTokenizer {
  return {
    ...tokenizer,
    async encode(text, options = {}, signal = NEVER) {
      const row = isLong(text, options) ? aside.encode(text, options, signal) : undefined;
      return row ?? tokenizer.encode(text, options);
    },
    async tokenize(text, options = {}, signal = NEVER) {
      const tokens = isLong(text) ? aside.tokenize(text, options, signal) : undefined;
      return tokens ?? tokenizer.tokenize(text, options);
    },
  };
}
