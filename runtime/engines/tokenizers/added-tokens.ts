import { type AlignedText, sliceAligned } from './aligned-text.js';
import { type Normalize, normalizedText } from './normalizers.js';
import type { AddedToken } from './tokenizer-json.js';

/** A stretch of text that is one added token, or none. */
export interface TextSegment extends AlignedText {
  /** Id of the added token. */
  id: number | undefined;
  /** Index in the text that was split. */
  start: number;
}

export type SplitAtAddedTokens = (value: AlignedText) => TextSegment[];

/** Tokens by the first UTF-16 unit of what they look like, the longest first. */
type Index = Map<string, { look: string; token: AddedToken }[]>;

export interface FindSettings {
  /** What the tokens went through before; absent for those that are matched before normalisation. */
  normalize?: Normalize;
  /** True: special tokens are text, in which no shorter token is looked for. */
  splitSpecial: boolean;
}

/** Finds added tokens in a text: leftmost, longest first, as the Rust library does. */
export function addedTokenFinder(
  tokens: readonly AddedToken[],
  { normalize, splitSpecial }: FindSettings,
): SplitAtAddedTokens {
  const index: Index = new Map();
  for (const token of tokens) {
    const look = normalize ? normalizedText(normalize, token.content) : token.content;
    if (look === '') continue;
    const list = index.get(look[0]!) ?? [];
    list.push({ look, token });
    index.set(look[0]!, list);
  }
  for (const list of index.values()) list.sort((a, b) => b.look.length - a.look.length);
  const isText = ({ special }: AddedToken) => splitSpecial && special;
  return (value) =>
    index.size === 0 ? [{ ...value, id: undefined, start: 0 }] : stretches(value, index, isText);
}

function stretches(value: AlignedText, index: Index, isText: (token: AddedToken) => boolean): TextSegment[] {
  const { text } = value;
  const out: TextSegment[] = [];
  // `run`: where the blanks end that were looked at last; a long run is not looked at again.
  let [done, run] = [0, 0];
  const put = (start: number, end: number, id?: number) => {
    if (end > start) out.push({ ...sliceAligned(value, start, end), id, start });
  };
  for (let at = 0; at < text.length;) {
    const found = index.get(text[at]!)?.find(({ look }) => text.startsWith(look, at));
    if (!found) {
      at++;
      continue;
    }
    const { look, token } = found;
    const [from, to] = [at, at + look.length];
    at = to;
    if (isText(token) || (token.single_word && isInsideWord(text, from, to))) continue;
    // A token that takes the blanks behind it doesn't take those that are tokens themselves: they come twice.
    const start = token.lstrip ? Math.max(blanksBefore(text, from, done), done) : from;
    if (token.rstrip && to > run) run = blanksAfter(text, to);
    const end = token.rstrip ? run : to;
    put(done, start);
    put(start, end, token.id);
    done = end;
  }
  put(done, text.length);
  return out;
}

const BLANK = /\p{White_Space}/u;

function blanksBefore(text: string, from: number, least: number): number {
  let start = from;
  while (start > least && BLANK.test(text[start - 1]!)) start--;
  return start;
}

function blanksAfter(text: string, to: number): number {
  let end = to;
  while (end < text.length && BLANK.test(text[end]!)) end++;
  return end;
}

const WORD = /^[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]/u;

/** Looks at one character on each side only: texts may hold very many tokens. */
function isInsideWord(text: string, from: number, to: number): boolean {
  const before = text.slice(Math.max(0, from - 2), from);
  const last = before.at(-1) !== undefined && /[\udc00-\udfff]$/.test(before) ? before : before.slice(-1);
  return WORD.test(last) || WORD.test(text.slice(to, to + 2));
}
