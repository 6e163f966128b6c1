import { compare } from './compare.js';
import { floatText, str } from './text.js';
import { fail, isFloat, textOf, typeName, type Value } from './values.js';

export interface JsonOptions {
  ascii: boolean;
  /** What stands before each level, where every item has a line of its own. */
  indent?: string | undefined;
  separators: [item: string, key: string];
  sorts: boolean;
}

/** Python's json.dumps(). @throws Error for what JSON has no form for */
export function dumps(value: Value, options: JsonOptions, level = ''): string {
  const text = textOf(value);
  if (text !== undefined) return quoted(text, options);
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'bigint') return str(value);
  if (typeof value === 'number' || isFloat(value)) return numeral(value);
  const inner = level + (options.indent ?? '');
  if (Array.isArray(value)) {
    const items = value.map((item) => dumps(item, options, inner));
    return wrapped(items, '[]', { options, level });
  }
  if (!(value instanceof Map)) return fail(`Object of type ${typeName(value)} is not JSON serializable`);
  const pairs = options.sorts ? [...value].sort(([a], [b]) => compare(a, b)) : [...value];
  const items = pairs.map(
    ([key, item]) => quoted(keyText(key), options) + options.separators[1] + dumps(item, options, inner),
  );
  return wrapped(items, '{}', { options, level });
}

function wrapped(
  items: string[],
  [open = '', close = '']: string,
  { options, level }: { options: JsonOptions; level: string },
): string {
  const { indent, separators } = options;
  if (items.length === 0 || indent === undefined) return open + items.join(separators[0]) + close;
  const line = `\n${level}${indent}`;
  return `${open}${line}${items.join(separators[0] + line)}\n${level}${close}`;
}

function numeral(value: Value): string {
  const size = isFloat(value) ? value.float : (value as number);
  if (Number.isFinite(size)) return isFloat(value) ? floatText(size) : str(size);
  return Number.isNaN(size) ? 'NaN' : size > 0 ? 'Infinity' : '-Infinity';
}

function keyText(key: Value): string {
  if (typeof key === 'number') return str(key);
  if (key === null || typeof key === 'boolean') return String(key);
  return textOf(key) ?? fail(`keys must be str, int, float, bool or None, not ${typeName(key)}`);
}

/** Half pairs stay as they are, as Python leaves them. */
function quoted(text: string, { ascii }: JsonOptions): string {
  const json = JSON.stringify(text).replaceAll(
    /(?<!\\)((?:\\\\)*)\\u(d[89a-f][\da-f]{2})/g,
    (_, before, code) => before + String.fromCharCode(parseInt(code, 16)),
  );
  const unit = (letter: string) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return ascii ? json.replaceAll(/[\x7f-\uffff]/g, unit) : json;
}
