import { BLANKS } from './strings.js';
import { fail, float, type Value } from './values.js';

export type TokenKind = 'data' | 'name' | 'string' | 'number' | 'operator' | 'begin' | 'end';

export interface Token {
  kind: TokenKind;
  text: string;
  /** What a string or number says. */
  value?: Value;
}

const OPEN = new RegExp(`\\{%[-+]?${BLANKS}*raw${BLANKS}*(?:-%\\}${BLANKS}*|%\\})|\\{[%{#][-+]?`, 'g');
const COMMENT_END = new RegExp(`-#\\}${BLANKS}*|\\+#\\}|#\\}\\n?`, 'g');
const RAW_END = new RegExp(`\\{%([-+]?)${BLANKS}*endraw${BLANKS}*(?:\\+%\\}|-%\\}${BLANKS}*|%\\}\\n?)`, 'g');
const ENDS: Record<string, RegExp> = {
  '{%': new RegExp(`\\+%\\}|-%\\}${BLANKS}*|%\\}\\n?`, 'y'),
  '{{': new RegExp(`-\\}\\}${BLANKS}*|\\}\\}`, 'y'),
};
const DIGITS = '(?:\\d+_)*\\d+';
const RULES: [kind: TokenKind | undefined, pattern: RegExp][] = [
  [undefined, new RegExp(`${BLANKS}+`, 'y')],
  ['number', new RegExp(`(?<!\\.)${DIGITS}(?:(?:\\.${DIGITS})?e[+-]?${DIGITS}|\\.${DIGITS})`, 'iy')],
  ['number', /0b(?:_?[01])+|0o(?:_?[0-7])+|0x(?:_?[\da-f])+|[1-9](?:_?\d)*|0(?:_?0)*/iy],
  ['name', /[\p{L}\p{M}\p{N}_]+/uy],
  ['string', /'[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*"/sy],
  ['operator', /\/\/|\*\*|==|!=|>=|<=|[-+/*%~[\](){}><=.:|,]/y],
];

/** Tokens of a template with trim_blocks and lstrip_blocks, as Python's library reads chat templates. */
export function tokenize(template: string): Token[] {
  const source = template.replaceAll(/\r\n?/g, '\n').replace(/\n$/, '');
  const tokens: Token[] = [];
  let at = 0;
  while (at < source.length) {
    const open = find(OPEN, source, at);
    const before = stripped(source, at, open);
    if (before !== '') tokens.push({ kind: 'data', text: before });
    if (!open) break;
    at = open.index + open[0].length;
    if (open[0].startsWith('{#'))
      at = endOf(find(COMMENT_END, source, at) ?? fail('Missing end of comment tag'));
    else if (open[0].length > 3) at = raw(source, at, tokens);
    else at = tag(source, { at, open: open[0].slice(0, 2) }, tokens);
  }
  return tokens;
}

const endOf = (match: RegExpExecArray): number => match.index + match[0].length;

function find(pattern: RegExp, source: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(source) ?? undefined;
}

/** Text from `at` up to a tag, without the blanks that the tag takes. */
function stripped(source: string, at: number, open: RegExpExecArray | undefined): string {
  const text = source.slice(at, open?.index);
  if (!open) return text;
  const sign = open[0][2];
  if (sign === '-') return text.replace(new RegExp(`${BLANKS}+$`), '');
  if (sign === '+' || open[0] === '{{') return text;
  const line = text.lastIndexOf('\n') + 1;
  const starts = line > 0 || at === 0 || source[at - 1] === '\n';
  return starts && new RegExp(`^${BLANKS}+$`).test(text.slice(line)) ? text.slice(0, line) : text;
}

function raw(source: string, at: number, tokens: Token[]): number {
  const end = find(RAW_END, source, at) ?? fail('Missing end of raw directive');
  const text = stripped(source, at, end);
  if (text !== '') tokens.push({ kind: 'data', text });
  return endOf(end);
}

/** Reads `{% … %}` or `{{ … }}`; `at` is behind its start. */
function tag(source: string, { at, open }: { at: number; open: string }, tokens: Token[]): number {
  const closers: string[] = [];
  tokens.push({ kind: 'begin', text: open });
  while (at < source.length) {
    const end = closers.length === 0 ? find(ENDS[open]!, source, at) : undefined;
    if (end) {
      tokens.push({ kind: 'end', text: open });
      return endOf(end);
    }
    const token = nextToken(source, at) ?? fail(`unexpected char '${source[at]}' at ${at}`);
    at += token.text.length;
    if (!token.kind) continue;
    if (token.kind === 'operator') balance(closers, token.text);
    tokens.push({ ...token, kind: token.kind, value: valueOf(token.kind, token.text) });
  }
  return fail('unexpected end of template');
}

function nextToken(source: string, at: number): { kind: TokenKind | undefined; text: string } | undefined {
  for (const [kind, pattern] of RULES) {
    const found = find(pattern, source, at);
    if (found) return { kind, text: found[0] };
  }
  return undefined;
}

function balance(closers: string[], operator: string): void {
  const closer = { '(': ')', '[': ']', '{': '}' }[operator];
  if (closer) closers.push(closer);
  else if (/[)\]}]/.test(operator) && closers.pop() !== operator) fail(`unexpected '${operator}'`);
}

function valueOf(kind: TokenKind, text: string): Value {
  if (kind === 'string') return unescaped(text.slice(1, -1));
  if (kind !== 'number') return undefined;
  const size = Number(text.replaceAll('_', ''));
  return /^\d[\d_]*$|^0[box]/i.test(text) ? size : float(size);
}

const ESCAPE = /\\(?:\n|([0-7]{1,3})|x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|(.))/gs;
const LETTERS: Record<string, string> = {
  ...{ n: '\n', t: '\t', r: '\r', a: '\x07', b: '\b', f: '\f', v: '\v' },
  ...{ "'": "'", '"': '"', '\\': '\\' },
};

/** Python's escapes; a backslash before any other letter stays. */
function unescaped(text: string): string {
  return text.replaceAll(ESCAPE, (all, octal?: string, ...rest: (string | undefined)[]) => {
    const [byte, unit, point, letter] = rest;
    const hex = byte ?? unit ?? point;
    if (hex !== undefined) return String.fromCodePoint(parseInt(hex, 16));
    if (octal !== undefined) return String.fromCodePoint(parseInt(octal, 8));
    if (letter === undefined) return '';
    if (/[xuUN]/.test(letter)) fail(`truncated \\${letter} escape`);
    return LETTERS[letter] ?? all;
  });
}
