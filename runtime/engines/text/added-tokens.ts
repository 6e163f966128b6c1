import type { Normalize } from './normalizers.js';
import type { AddedToken } from './tokenizer-json.js';

/** A stretch of text that is one added token, or none. */
export interface Stretch {
  text: string;
  /** Id of the added token. */
  id?: number;
  /** Index in the text that was split. */
  start: number;
}

export type FindAdded = (text: string) => Stretch[];

/** Tokens by the first UTF-16 unit of what they look like, the longest first. */
type Index = Map<string, { look: string; token: AddedToken }[]>;

/**
 * Finds added tokens in a text: leftmost, longest first, as the Rust library does. `normalize` is what the tokens went
 * through before (nothing for those that are matched before normalisation).
 */
export function addedTokenFinder(tokens: readonly AddedToken[], normalize?: Normalize): FindAdded {
  const index: Index = new Map();
  for (const token of tokens) {
    const look = normalize ? normalize(token.content) : token.content;
    if (look === '') continue;
    const list = index.get(look[0]!) ?? [];
    list.push({ look, token });
    index.set(look[0]!, list);
  }
  for (const list of index.values()) list.sort((a, b) => b.look.length - a.look.length);
  return (text) => (index.size === 0 ? [{ text, start: 0 }] : stretches(text, index));
}

function stretches(text: string, index: Index): Stretch[] {
  const out: Stretch[] = [];
  let done = 0;
  const plain = (end: number) => {
    if (end > done) out.push({ text: text.slice(done, end), start: done });
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
    if (token.single_word && isInsideWord(text, from, to)) continue;
    const start = token.lstrip ? Math.max(done, text.slice(0, from).search(/\p{White_Space}*$/u)) : from;
    const end = token.rstrip ? to + /^\p{White_Space}*/u.exec(text.slice(to))![0].length : to;
    plain(start);
    out.push({ text: text.slice(start, end), id: token.id, start });
    done = end;
    at = Math.max(at, end);
  }
  plain(text.length);
  return out;
}

const WORD = '[\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}]';
const ENDS_WITH_WORD = new RegExp(`${WORD}$`, 'u');
const STARTS_WITH_WORD = new RegExp(`^${WORD}`, 'u');

function isInsideWord(text: string, from: number, to: number): boolean {
  return ENDS_WITH_WORD.test(text.slice(0, from)) || STARTS_WITH_WORD.test(text.slice(to));
}
