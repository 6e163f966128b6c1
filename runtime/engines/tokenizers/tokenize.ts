import { type SplitAtAddedTokens, addedTokenFinder } from './added-tokens.js';
import { type AlignedText, alignText, originSpan } from './aligned-text.js';
import { codePointsOf } from './code-points.js';
import { createNormalizer, type Normalize } from './normalizers.js';
import { asksForOrigins, createPreTokenizer, type PreTokenize } from './pre-tokenizers.js';
import type { TokenModel } from './token-model.js';
import type { TokenizerJson } from './tokenizer-json.js';

/** Where tokens come from; one entry for each. */
export interface TokenOffsets {
  /** Code points [start, end) of the text. */
  starts: number[];
  ends: number[];
  /** Which word of the text, counted from 0; added tokens are words of their own. */
  words: number[];
  /** What the token looks like: its entry in the vocabulary, or the text that matched an added one. */
  looks: string[];
}

/** Tokens of one text, with nothing around them. */
export interface TokenizedText {
  ids: number[];
  /** Only where they were asked for. */
  traces?: TokenOffsets;
}

export interface TokenizeSettings {
  json: TokenizerJson;
  model: TokenModel;
  /** True: special tokens in a text are text. */
  splitSpecial: boolean;
}

export interface TokenizeOptions {
  traces?: boolean;
  /** Nobody looks at tokens behind this many: a long text may end there, or a little later. Not with traces. */
  enough?: number | undefined;
}

export type Tokenize = (text: string, options?: TokenizeOptions) => TokenizedText;

/** A stretch of the text that is one word, or one added token. */
interface Word extends AlignedText {
  id: number | undefined;
}

/** Half a character, which JSON can bring and UTF-8 can't hold. */
const LONE_SURROGATE = /\p{Cs}/gu;

/** Text to tokens without special tokens around it. */
export function createTokenize({ json, model, splitSpecial }: TokenizeSettings): Tokenize {
  const wordsOf = createSplit(json, splitSpecial);
  const aligns = json.normalizer != null && asksForOrigins(json.pre_tokenizer);
  return (text, { traces = false, enough = Infinity } = {}) => {
    const whole = text.replace(LONE_SURROGATE, '\ufffd');
    const words = wordsOf(alignText(whole, traces || aligns));
    return traces ? traced(whole, words, model) : { ids: idsOf(words, model, enough) };
  };
}

function createSplit(json: TokenizerJson, splitSpecial: boolean): (value: AlignedText) => Word[] {
  const normalize = createNormalizer(json.normalizer);
  const raw = json.added_tokens.filter((token) => !token.normalized);
  const normalized = json.added_tokens.filter((token) => token.normalized);
  const findRaw = addedTokenFinder(raw, { splitSpecial });
  const findNormalized = addedTokenFinder(normalized, { normalize, splitSpecial });
  const preTokenize = createPreTokenizer(json.pre_tokenizer);
  return (value) => split(value, { findRaw, findNormalized, normalize, preTokenize });
}

interface Steps {
  findRaw: SplitAtAddedTokens;
  findNormalized: SplitAtAddedTokens;
  normalize: Normalize;
  preTokenize: PreTokenize;
}

function split(value: AlignedText, { findRaw, findNormalized, normalize, preTokenize }: Steps): Word[] {
  const out: Word[] = [];
  for (const raw of findRaw(value)) {
    if (raw.id !== undefined) {
      out.push(raw);
      continue;
    }
    for (const stretch of findNormalized(normalize(raw))) {
      if (stretch.id !== undefined) out.push(stretch);
      else if (stretch.text !== '') {
        const { text, origins, at } = stretch;
        const first = origins ? origins.starts[at] === 0 : raw.start === 0 && stretch.start === 0;
        for (const piece of preTokenize([{ text, origins, at, first }])) {
          if (piece.text !== '')
            out.push({ text: piece.text, origins: piece.origins, at: piece.at, id: undefined });
        }
      }
    }
  }
  return out;
}

function idsOf(words: readonly Word[], model: TokenModel, enough: number): number[] {
  const ids: number[] = [];
  const take = (id: number) => void ids.push(id);
  for (const { id, text } of words) {
    if (ids.length >= enough) break;
    if (id === undefined) model.tokenize(text, take);
    else take(id);
  }
  return ids;
}

function traced(text: string, words: readonly Word[], model: TokenModel): TokenizedText {
  const ids: number[] = [];
  const traces: TokenOffsets = { starts: [], ends: [], words: [], looks: [] };
  const { indexOf } = codePointsOf(text);
  words.forEach((word, number) => {
    const take = (id: number, start: number, end: number) => {
      const [from, to] = end > start ? originSpan(word, start, end) : [0, 0];
      ids.push(id);
      traces.starts.push(indexOf(from));
      traces.ends.push(indexOf(to));
      traces.words.push(number);
      traces.looks.push(word.id === undefined ? (model.tokens.get(id) ?? '') : word.text);
    };
    if (word.id === undefined) model.tokenize(word.text, take);
    else take(word.id, 0, word.text.length);
  });
  return { ids, traces };
}
