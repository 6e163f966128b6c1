import { RunError } from '../../../core/errors.js';
import type { SpeechOptions } from '../../../core/handles/index.js';
import { firstNumber, type Json } from '../../repository/model-folder.js';

/** What stands before the tokens that a window begins with. */
export interface PreviousText {
  /** Tokens for the next window. */
  readonly prefix: readonly number[];
  /**
   * Takes what a window has said.
   * @param isTrusted false: the next window does not go by it
   */
  add(tokens: readonly number[], isTrusted: boolean): void;
}

export interface PreviousTextRules {
  /** Token of the time 0. */
  timestampBegin: number;
  /** `<|startofprev|>`; undefined in repositories that don't name it. */
  previousStart: number | undefined;
  /** It, where it is named by its name: only then is it taken off the words that a request gives. */
  namedStart: number | undefined;
  /** Most tokens of the text before. */
  most: number;
}

/**
 * @param generation generation_config.json
 * @param config config.json
 */
export function previousTextRules(generation: Json, config: Json, timestampBegin: number): PreviousTextRules {
  const namedStart = (generation['prev_sot_token_id'] as number | null | undefined) ?? undefined;
  const suppressed = generation['suppress_tokens'];
  const last = Array.isArray(suppressed) ? (suppressed.at(-2) as number | undefined) : undefined;
  return {
    timestampBegin,
    previousStart: namedStart ?? last,
    namedStart,
    most: Math.floor((firstNumber(config, 'max_target_positions') ?? 448) / 2) - 1,
  };
}

/**
 * Words that the model is to expect, in each window, or with `condition_on_prev_tokens` before the first one and what was
 * said after it before the others (WhisperGenerationMixin._prepare_decoder_input_ids).
 * @throws RunError 422 where the model has no token to begin such a text with
 */
export function createPreviousText(
  { prompt_ids, condition_on_prev_tokens }: SpeechOptions,
  { timestampBegin, previousStart, namedStart, most }: PreviousTextRules,
): PreviousText {
  const given = prompt_ids ?? [];
  if (!condition_on_prev_tokens) return { prefix: given, add: () => {} };
  if (previousStart === undefined) {
    throw new RunError(
      'unprocessable',
      'params.condition_on_prev_tokens: the repository names no token that a text before begins with (prev_sot_token_id)',
    );
  }
  const history = given[0] === namedStart ? given.slice(1) : [...given];
  let isFollowed = true;
  return {
    get prefix() {
      if (!isFollowed) return given;
      return history.length === 0 ? [] : [previousStart, ...history.slice(-most)];
    },
    add(tokens, isTrusted) {
      isFollowed = isTrusted;
      // Of a pair of times at the end the second one begins what comes next.
      const endsWithPair = tokens.length > 2 && tokens.at(-2)! >= timestampBegin;
      history.push(...(endsWithPair ? tokens.slice(0, -1) : tokens));
    },
  };
}

/** How a text is tokenised, as far as words to expect need it. */
export interface PromptTokenizer {
  encode(text: string, options: { specialTokens: false }): { ids: readonly number[] };
  readonly specialIds: ReadonlySet<number>;
}

/**
 * Tokens of words to expect (WhisperTokenizer.get_prompt_ids); of a long text the last ones, as many as the model reads.
 * @throws RunError 422 where the model has no token to begin them with, or special tokens or times stand in the text
 */
export function promptIdsOf(
  text: string,
  tokenizer: PromptTokenizer,
  { previousStart, most, timestampBegin }: PreviousTextRules,
): number[] {
  if (previousStart === undefined) {
    throw new RunError(
      'unprocessable',
      'params.prompt: the repository names no token that a text before begins with (prev_sot_token_id)',
    );
  }
  const { ids } = tokenizer.encode(` ${text.trim()}`, { specialTokens: false });
  if (ids.some((id) => tokenizer.specialIds.has(id) || id >= timestampBegin))
    throw new RunError('unprocessable', 'params.prompt: special tokens may not stand in it');
  return [previousStart, ...ids.slice(-most)];
}
