import { length, tuple, type Value } from './values.js';

/** What Python's str.isspace() says of single characters; JavaScript's \s differs from it. */
export const BLANKS =
  '[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]';
const BLANK = new RegExp(BLANKS);

const isOneOf = (chars: string | undefined, unit: string): boolean =>
  chars == null ? BLANK.test(unit) : chars.includes(unit);

export function strip(text: string, chars?: string): string {
  return stripEnd(stripStart(text, chars), chars);
}

export function stripStart(text: string, chars?: string): string {
  let start = 0;
  while (start < text.length && isOneOf(chars, text[start]!)) start++;
  return text.slice(start);
}

export function stripEnd(text: string, chars?: string): string {
  let end = text.length;
  while (end > 0 && isOneOf(chars, text[end - 1]!)) end--;
  return text.slice(0, end);
}

export function capitalize(text: string): string {
  const [first = '', ...rest] = text;
  return titleCase(first) + rest.join('').toLowerCase();
}

/** ß becomes Ss. */
export function titleCase(letter: string): string {
  const [first = '', ...rest] = letter.toUpperCase();
  return first + rest.join('').toLowerCase();
}

export function replace(text: string, from: string, to: string, most: number = -1): string {
  const parts = from === '' ? ['', ...Array.from(text), ''] : text.split(from);
  const joints = most < 0 ? Infinity : most;
  return parts.map((part, i) => (i === 0 ? part : (i <= joints ? to : from) + part)).join('');
}

export function partition(text: string, at: number, separator: string): Value {
  return tuple(at < 0 ? [text, '', ''] : [text.slice(0, at), separator, text.slice(at + separator.length)]);
}

export const padding = (text: string, width: number, fill = ' '): string =>
  fill.repeat(Math.max(0, width - length(text)));

export function center(text: string, width: number, fill = ' '): string {
  const missing = Math.max(0, width - length(text));
  const left = Math.floor(missing / 2) + (missing & width & 1);
  return fill.repeat(left) + text + fill.repeat(missing - left);
}
