import { dumps } from './json.js';
import { native, type NativeFunction } from './native.js';
import { negated } from './operators.js';
import { splitLines } from './splits.js';
import { STRING_METHODS } from './string-methods.js';
import { capitalize, center, strip } from './strings.js';
import { escapeHtml, str } from './text.js';
import {
  fail,
  float,
  isInteger,
  isMarkup,
  length,
  numberOf,
  textOf,
  truthy,
  typeName,
  type Value,
} from './values.js';

/** A filter that first makes text of what it gets; marked text stays marked. */
const ofText = (names: string, run: (text: string, ...args: Value[]) => string): NativeFunction =>
  native(names, (value, ...args) => {
    const text = run(str(value), ...args);
    return isMarkup(value) ? { markup: text } : text;
  });

const number = (value: Value, otherwise: number): number => numberOf(value) ?? otherwise;

export const TEXT_FILTERS: Record<string, NativeFunction> = {
  string: native('', (value) => (isMarkup(value) ? value : str(value))),
  upper: ofText('', (text) => text.toUpperCase()),
  lower: ofText('', (text) => text.toLowerCase()),
  capitalize: ofText('', capitalize),
  title: native('', (value) => capitals(str(value))),
  trim: ofText('chars', (text, chars) => strip(text, textOf(chars))),
  center: ofText('width', (text, width) => center(text, number(width, 80))),
  indent: native('width first blank', indented),
  replace: native('old new count', (value, old, by, count) =>
    STRING_METHODS['replace']!.run(str(value), str(old), str(by), count),
  ),
  truncate: native('length killwords end leeway', truncated),
  wordcount: native('', (value) => str(value).match(/[\p{L}\p{N}_]+/gu)?.length ?? 0),
  urlencode: native('', (value) =>
    encodeURIComponent(str(value)).replaceAll(/[!'()*]|%2F/g, (unit) => (unit === '%2F' ? '/' : hex(unit))),
  ),
  tojson: native('ensure_ascii indent separators sort_keys', toJson),
  ...alias(
    ['safe'],
    native('', (value) => ({ markup: str(value) })),
  ),
  ...alias(
    ['e', 'escape', 'forceescape'],
    native('', (value) => (isMarkup(value) ? value : { markup: escapeHtml(str(value)) })),
  ),
  abs: native('', (value) => (number(value, 0) < 0 ? negated(value) : value)),
  int: native('default base', toInteger),
  float: native('default', (value, otherwise = float(0)) => {
    const size = parsed(value, /^[-+]?(?:\d[\d_]*\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i);
    return size === undefined ? otherwise : float(size);
  }),
  round: native('precision method', rounded),
};

function alias(names: string[], filter: NativeFunction): Record<string, NativeFunction> {
  return Object.fromEntries(names.map((name) => [name, filter]));
}

const hex = (unit: string): string => `%${unit.charCodeAt(0).toString(16).toUpperCase()}`;

/** Jinja's title, which is not str.title(): a letter after an apostrophe stays small. */
function capitals(text: string): string {
  return text.toLowerCase().replaceAll(/(?<=^|[-\s({[<])[^-\s({[<]/gu, (letter) => letter.toUpperCase());
}

function indented(value: Value, width: Value = 4, first?: Value, blank?: Value): Value {
  const text = textOf(value) ?? fail(`indent takes text, not ${typeName(value)}`);
  const before = textOf(width) ?? ' '.repeat(number(width, 0));
  const lines = splitLines(`${text}\n`);
  const done = lines.map((line, i) => (i > 0 && (line !== '' || truthy(blank)) ? before + line : line));
  const all = (truthy(first) ? before : '') + done.join('\n');
  return isMarkup(value) ? { markup: all } : all;
}

function truncated(value: Value, ...[size, kill, end, leeway]: Value[]): Value {
  const [text, tail, limit] = [str(value), textOf(end) ?? '...', number(size, 255)];
  if (length(text) <= limit + number(leeway, 5)) return text;
  const cut = Array.from(text)
    .slice(0, Math.max(0, limit - length(tail)))
    .join('');
  const blank = cut.lastIndexOf(' ');
  return (truthy(kill) || blank < 0 ? cut : cut.slice(0, blank)) + tail;
}

function toJson(value: Value, ...[ascii, indent, separators, sorts]: Value[]): Value {
  const parts = Array.isArray(separators) ? separators.map(str) : undefined;
  const line = indent == null ? undefined : (textOf(indent) ?? ' '.repeat(number(indent, 0)));
  return dumps(value, {
    ascii: truthy(ascii),
    indent: line,
    separators: parts ? [parts[0] ?? '', parts[1] ?? ''] : [line === undefined ? ', ' : ',', ': '],
    sorts: truthy(sorts),
  });
}

function parsed(value: Value, pattern: RegExp): number | undefined {
  const text = textOf(value);
  if (value === undefined) fail('an undefined value has no size');
  if (text === undefined) return numberOf(value);
  return pattern.test(strip(text)) ? Number(strip(text).replaceAll('_', '')) : undefined;
}

function toInteger(value: Value, otherwise: Value = 0, base: Value = 10): Value {
  const text = textOf(value);
  if (text !== undefined && base !== 10) {
    const size = parseInt(strip(text).replace(/^0[box]/i, ''), number(base, 10));
    return Number.isNaN(size) ? otherwise : size;
  }
  const size = parsed(value, /^[-+]?(?:\d[\d_]*\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i);
  return size === undefined || !Number.isFinite(size) ? otherwise : Math.trunc(size);
}

/** To the even neighbour from the very middle, as Python rounds; integers stay what they are. */
function rounded(value: Value, precision: Value = 0, method: Value = 'common'): Value {
  const [size, digits] = [numberOf(value) ?? fail(`can't round ${typeName(value)}`), number(precision, 0)];
  const scale = 10 ** digits;
  if (method === 'ceil' || method === 'floor') return float(Math[method](size * scale) / scale);
  if (isInteger(value)) return value;
  if (digits < 0) return float(Math.round(size * scale) / scale);
  const exact = Math.abs(size).toFixed(Math.min(100, digits + 60));
  const kept = exact.slice(0, exact.indexOf('.') + 1 + digits);
  const isMiddle = /^50*$/.test(exact.slice(kept.length));
  const nearest =
    isMiddle && /[02468]\.?$/.test(kept) ? Number(kept) : Number(Math.abs(size).toFixed(digits));
  return float(Math.sign(size) * nearest);
}
