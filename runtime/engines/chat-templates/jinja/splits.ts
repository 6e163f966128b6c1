import { BLANKS, stripEnd, stripStart } from './strings.js';
import { fail } from './values.js';

const LINE_ENDS = '\\r\\n|[\\n-\\r\\x1c-\\x1e\\x85\\u2028\\u2029]';
const LINE_END = new RegExp(LINE_ENDS);
const KEPT_LINE_END = new RegExp(`(?<=${LINE_ENDS})(?!(?<=\\r)\\n)`);
const EVERY = Infinity;

export function splitLines(text: string, keepEnds: number = 0): string[] {
  const lines = text.split(keepEnds ? KEPT_LINE_END : LINE_END);
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}

export function split(text: string, separator?: string, most: number = -1): string[] {
  if (separator === '') fail('empty separator');
  const limit = most < 0 ? EVERY : most;
  const source = separator === undefined ? stripStart(text) : text;
  if (source === '' && separator === undefined) return [];
  const pattern = separator === undefined ? new RegExp(`${BLANKS}+`) : separator;
  const parts = (separator === undefined && limit === EVERY ? stripEnd(source) : source).split(pattern);
  if (parts.length <= limit + 1) return separator === undefined ? parts.filter((part) => part !== '') : parts;
  return [...parts.slice(0, limit), remainder(source, pattern, limit)];
}

/** What stands behind as many separators. */
function remainder(text: string, separator: string | RegExp, count: number): string {
  let rest = text;
  for (let i = 0; i < count; i++) {
    const [first = ''] = rest.split(separator, 1);
    const behind = rest.slice(first.length);
    rest = typeof separator === 'string' ? behind.slice(separator.length) : stripStart(behind);
  }
  return rest;
}

/** Splits the mirrored text. */
export function splitFromEnd(text: string, separator?: string, most: number = -1): string[] {
  const mirror = (part: string) => Array.from(part).toReversed().join('');
  return split(mirror(text), separator && mirror(separator), most)
    .map(mirror)
    .toReversed();
}
