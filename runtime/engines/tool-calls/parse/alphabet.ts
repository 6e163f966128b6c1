/**
 * Special tokens among text: each is one UTF-16 unit of those that no text has alone (low surrogates), so that a marker that is a
 * special token is found only where the model chose that token, not where it wrote the same letters.
 */
export interface Alphabet {
  /** Text of a model as it came, without units that stand for tokens. */
  encode(text: string): string;
  /** The unit of a special token; undefined for more than there are units for. */
  unitOf(token: string): string | undefined;
  /** A marker as it will appear: the special tokens in it as their units. */
  marker(text: string): string;
  /** Text again; special tokens are left out, or stand as they are written. */
  plain(text: string, special?: 'drop' | 'write'): string;
}

const FIRST = 0xdc00;
const MOST = 0x400;
/** With this flag, units of a pair are not looked at by themselves. */
const UNITS = /[\uDC00-\uDFFF]/gu;

/** Text without halves of pairs. */
export const wellFormed = (text: string): string => text.replace(/[\uD800-\uDFFF]/gu, '\uFFFD');

/** @param tokens texts of the special tokens; those of `first` get units even where there are too many */
export function createAlphabet(tokens: Iterable<string>): Alphabet {
  const written = [...new Set(tokens)].filter((token) => token !== '').slice(0, MOST);
  const units = new Map(written.map((token, i) => [token, String.fromCharCode(FIRST + i)]));
  const longestFirst = [...units].sort(([a], [b]) => b.length - a.length);
  return {
    encode: wellFormed,
    unitOf: (token) => units.get(token),
    marker(text) {
      let found = '';
      for (let at = 0; at < text.length;) {
        const token = longestFirst.find(([token]) => text.startsWith(token, at));
        found += token ? token[1] : text[at];
        at += token ? token[0].length : 1;
      }
      return found;
    },
    plain: (text, special = 'drop') =>
      text.replace(UNITS, (unit) => (special === 'drop' ? '' : (written[unit.charCodeAt(0) - FIRST] ?? ''))),
  };
}
