import { plain } from './python-values.js';
import { callOf, type Node } from './rewrite.js';

type Method = (text: string, ...args: never[]) => unknown;

/** What str.isspace() says of single characters; JavaScript's \s differs from it. */
const BLANKS = '[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]';
const BLANK = new RegExp(BLANKS);
const LINE_ENDS = '\\r\\n|[\\n-\\r\\x1c-\\x1e\\x85\\u2028\\u2029]';
const LINE_END = new RegExp(LINE_ENDS);

const all = (pattern: RegExp) => (text: string) => pattern.test(text);

/** Methods of Python's str that the library lacks, or computes without their arguments. */
export const STRING_METHODS: Record<string, Method> = {
  strip: (text, chars?: string) => stripEnd(stripStart(text, chars), chars),
  lstrip: stripStart,
  rstrip: stripEnd,
  title: (text) => text.toLowerCase().replaceAll(/(?<!\p{L})\p{L}/gu, titled),
  capitalize: capitalized,
  find: (text, part: string) => text.indexOf(part),
  rfind: (text, part: string) => text.lastIndexOf(part),
  count: (text, part: string) => text.split(part).length - 1,
  join: (text, parts: unknown) => (plain(parts) as string[]).join(text),
  splitlines,
  rsplit: (text, separator: string, most = Infinity) => splitFromEnd(text, separator, most),
  removeprefix: (text, part: string) => (text.startsWith(part) ? text.slice(part.length) : text),
  removesuffix: (text, part: string) =>
    part !== '' && text.endsWith(part) ? text.slice(0, -part.length) : text,
  isdigit: all(/^\p{Nd}+$/u),
  isalpha: all(/^\p{L}+$/u),
  isspace: (text) => text !== '' && stripStart(text) === '',
};

const nameOf = (method: string): string => `python_${method}`;

/** What to hand to a template whose calls have been rewritten. */
export const METHOD_VARIABLES = Object.fromEntries(
  Object.entries(STRING_METHODS).map(([method, run]) => [nameOf(method), run]),
);

/** `text.strip(chars)`, of text or what Python would print. */
export const stripped = (text: Node, args: readonly Node[]): Node => callOf(nameOf('strip'), [text, ...args]);

/** Turns `text.strip(chars)` and its like into a call of ours. */
export function stringMethod(node: Node): Node {
  if (node.type !== 'CallExpression') return node;
  const callee = node['callee'] as Node;
  const method = (callee['property'] as Node | undefined)?.['value'];
  if (callee.type !== 'MemberExpression' || callee['computed'] === true) return node;
  if (typeof method !== 'string' || !Object.hasOwn(STRING_METHODS, method)) return node;
  return callOf(nameOf(method), [callee['object'], ...(node['args'] as Node[])]);
}

const within = (chars: string | undefined, unit: string): boolean =>
  chars == null ? BLANK.test(unit) : chars.includes(unit);

function stripStart(text: string, chars?: string): string {
  let start = 0;
  while (start < text.length && within(chars, text[start]!)) start++;
  return text.slice(start);
}

function stripEnd(text: string, chars?: string): string {
  let end = text.length;
  while (end > 0 && within(chars, text[end - 1]!)) end--;
  return text.slice(0, end);
}

export function capitalized(text: string): string {
  const [first = '', ...rest] = text;
  return titled(first) + rest.join('').toLowerCase();
}

/** ß becomes Ss. */
function titled(letter: string): string {
  const [first = '', ...rest] = letter.toUpperCase();
  return first + rest.join('').toLowerCase();
}

function splitlines(text: string): string[] {
  const lines = text.split(LINE_END);
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}

function splitFromEnd(text: string, separator: string | undefined, most: number): string[] {
  const parts = separator == null ? text.trim().split(/\s+/) : text.split(separator);
  const rest = Math.max(0, parts.length - most - 1);
  return [parts.slice(0, rest + 1).join(separator ?? ' '), ...parts.slice(rest + 1)];
}
