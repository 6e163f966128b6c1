import type { AddedToken, TokenizerJson } from './tokenizer-json.js';

/** White space by Unicode: so counts the library of patterns that Python's class takes. */
const BLANK = String.raw`\t-\r\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000`;
const SIGNS = '.,!?()';
/** A sign begins a word, and an apostrophe is one. */
const WORD = `'|[${SIGNS}][^${BLANK}${SIGNS}']*|[^${BLANK}${SIGNS}']+`;
/** The end of a line right behind a word is a word, but behind an apostrophe. */
const LINE_END = `(?<=[^${BLANK}'])\\n`;

/** How the end of a word is marked in merges. */
const END = '</w>';
/** How a piece that ends no word is marked in the vocabulary. */
export const OPEN = '@@';

export interface MarkedPieces {
  vocab: Record<string, number>;
  /** merges.txt */
  merges: string;
  addedTokens: AddedToken[];
  unknown: string;
}

/** Blenderbot-small's tokenizer: byte pairs of words in lower case, where all pieces but a word's last one are marked. */
export function markedPieces({ vocab, merges, addedTokens, unknown }: MarkedPieces): TokenizerJson {
  return {
    added_tokens: addedTokens,
    normalizer: {
      type: 'Sequence',
      normalizers: [
        { type: 'Replace', pattern: { Regex: LINE_END }, content: ' __newln__ ' },
        { type: 'Lowercase' },
      ],
    },
    pre_tokenizer: { type: 'Split', pattern: { Regex: WORD }, behavior: 'Removed', invert: true },
    post_processor: null,
    decoder: { type: 'MarkedPieces' },
    model: {
      ...{ type: 'MarkedBPE', unk_token: unknown, end_of_word_suffix: END, vocab },
      // The first line names the format, and behind the last line's end there is nothing.
      merges: merges
        .split('\n')
        .slice(1, -1)
        .map((line) => line.split(/\s+/).filter(Boolean)),
    },
  };
}

/** A piece of a word as the vocabulary has it. */
export const markedPiece = (piece: string, isLast: boolean): string =>
  isLast ? piece.slice(0, -END.length) : piece + OPEN;

export const joinMarked = (tokens: readonly string[]): string =>
  tokens.join(' ').replaceAll(`${OPEN} `, '').trim();
