import type { EncodeTextOptions, TextTokenizer } from './tokenizer.js';

/** Tokens of a prompt. */
export type EncodePrompt = (
  text: string,
  options: EncodeTextOptions,
  signal: AbortSignal,
) => Promise<number[]>;

/** The same beside this thread; undefined where there is no room for that. */
export type EncodeAside = (
  text: string,
  options: EncodeTextOptions,
  signal: AbortSignal,
) => Promise<number[]> | undefined;

/**
 * Characters of a prompt that is worth another thread: fewer take 10 to 150 ms of this one (vocabularies of 50,000 to 262,144 tokens), about
 * the step of a model; 2^18 take 0.5 to 8 s, in which all generations under way would stand still.
 */
export const LONG_PROMPT = 2 ** 13;

/** Long prompts are tokenised aside, all others here. */
export const createPromptEncoder =
  (tokenizer: Pick<TextTokenizer, 'encode'>, aside: EncodeAside): EncodePrompt =>
  async (text, options, signal) => {
    const ids = text.length < LONG_PROMPT ? undefined : aside(text, options, signal);
    return ids ?? tokenizer.encode(text, options).ids;
  };
