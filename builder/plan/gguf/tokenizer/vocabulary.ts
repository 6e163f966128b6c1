import { printable } from '../../../../runtime/core/printable.js';
import type { GgufFacts, Json } from '../facts.js';

/** Kinds of tokens, by their numbers in `tokenizer.ggml.token_type`. */
export const KIND = { normal: 1, unknown: 2, control: 3, user: 4, unused: 5, byte: 6 } as const;

/** The vocabulary of a model, as its metadata have it. */
export interface GgufVocabulary {
  tokens: readonly string[];
  /** One of KIND for each token. */
  kinds: ArrayLike<number>;
  scores: ArrayLike<number> | undefined;
  merges: readonly string[];
  /** A token by what it is for: `bos`, `eos`, `unknown`. */
  special(name: string): number | undefined;
  flag(name: string): boolean | undefined;
  text(name: string): string | undefined;
}

const most = (values: ArrayLike<number>): boolean => values.length > 2 ** 22;

/** @throws WeightsError where it is missing or its parts do not fit each other */
export function vocabularyOf(facts: GgufFacts): GgufVocabulary {
  const at = (key: string) => facts.metadata.get(`tokenizer.ggml.${key}`);
  const tokens = at('tokens');
  if (!Array.isArray(tokens) || tokens.length === 0 || typeof tokens[0] !== 'string')
    throw facts.refuse('has no vocabulary (tokenizer.ggml.tokens)');
  const kinds = at('token_type') ?? new Int32Array(tokens.length).fill(KIND.normal);
  const scores = at('scores');
  const merges = at('merges') ?? [];
  if (!(kinds instanceof Int32Array) || kinds.length !== tokens.length || most(kinds))
    throw facts.refuse('has no kind for each token (tokenizer.ggml.token_type)');
  if (scores !== undefined && (!(scores instanceof Float32Array) || scores.length !== tokens.length))
    throw facts.refuse('has no score for each token (tokenizer.ggml.scores)');
  if (!Array.isArray(merges)) throw facts.refuse('has merges that are no list (tokenizer.ggml.merges)');
  return {
    tokens: tokens as string[],
    merges: merges as string[],
    ...{ kinds, scores },
    special(name) {
      const id = at(`${name}_token_id`);
      if (id === undefined) return undefined;
      if (typeof id === 'number' && Number.isInteger(id) && id >= 0 && id < tokens.length) return id;
      // Tools write -1 where there is none.
      if (typeof id === 'number' && id >= 2 ** 31) return undefined;
      throw facts.refuse(`has a ${printable(name)} token that is none of its vocabulary`);
    },
    flag(name) {
      const value = at(name);
      return typeof value === 'boolean' ? value : undefined;
    },
    text(name) {
      const value = at(name);
      return typeof value === 'string' ? value : undefined;
    },
  };
}

/** Of pieces that no text is cut into. */
const NO_SCORE = -1000;

/** The same with control tokens behind its own, where it lacks them: their vectors are in no table. */
export function withTokens(vocabulary: GgufVocabulary, wanted: readonly string[]): GgufVocabulary {
  const added = wanted.filter((token) => !vocabulary.tokens.includes(token));
  if (added.length === 0) return vocabulary;
  const { tokens, kinds, scores } = vocabulary;
  return {
    ...vocabulary,
    tokens: [...tokens, ...added],
    kinds: [...Array.from(kinds), ...added.map(() => KIND.control)],
    scores: scores && [...Array.from(scores), ...added.map(() => NO_SCORE)],
  };
}

const NAMES = [
  ['bos_token', 'bos'],
  ['eos_token', 'eos'],
  ['unk_token', 'unknown'],
  ['sep_token', 'seperator'],
  ['pad_token', 'padding'],
  ['cls_token', 'cls'],
  ['mask_token', 'mask'],
] as const;

/** The special tokens as tokenizer_config.json names them. */
export function namedTokens(vocabulary: GgufVocabulary): Json {
  return Object.fromEntries(
    NAMES.flatMap(([name, key]) => {
      const id = vocabulary.special(key);
      return id === undefined ? [] : [[name, vocabulary.tokens[id]]];
    }),
  );
}
