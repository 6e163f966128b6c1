import { isFloat, isMarkup, isJinjaObject, isTuple, textOf, type Value } from './values.js';

/** Python's str(), which is what a template prints. */
export function str(value: Value): string {
  if (value === undefined) return '';
  return textOf(value) ?? repr(value);
}

/** Python's repr(). */
export function repr(value: Value): string {
  if (value === undefined) return 'Undefined';
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'number') return Number.isInteger(value) ? integer(value) : floatText(value);
  if (typeof value === 'string') return quoted(value);
  if (isFloat(value)) return floatText(value.float);
  if (isMarkup(value)) return `Markup(${quoted(value.markup)})`;
  if (Array.isArray(value)) return listed(value);
  if (value instanceof Map) {
    return `{${[...value].map(([key, item]) => `${repr(key)}: ${repr(item)}`).join(', ')}}`;
  }
  return isJinjaObject(value) ? '<object>' : '<function>';
}

const integer = (size: number): string =>
  Number.isSafeInteger(size) ? String(size) : BigInt(size).toString();

function listed(items: Value[]): string {
  const inner = items.map(repr).join(', ');
  if (!isTuple(items)) return `[${inner}]`;
  return items.length === 1 ? `(${inner},)` : `(${inner})`;
}

export function floatText(size: number): string {
  if (Number.isNaN(size)) return 'nan';
  if (!Number.isFinite(size)) return size > 0 ? 'inf' : '-inf';
  const [digits = '', power = ''] = size.toExponential().split('e');
  const exponent = Number(power);
  if (size !== 0 && (exponent < -4 || exponent >= 16)) {
    return `${digits}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
  }
  const plain =
    exponent < 0
      ? size.toFixed(Math.min(100, digits.replace(/\D/g, '').length - 1 - exponent))
      : String(size);
  const signed = Object.is(size, -0) ? '-0' : plain;
  return signed.includes('.') ? signed : `${signed}.0`;
}

/** What str.isprintable() says no to, but for the blank. */
const HIDDEN = /[\p{C}\p{Zl}\p{Zp}\p{Zs}]/gu;
const NAMED: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', ' ': ' ' };

function quoted(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text.replaceAll('\\', '\\\\').replaceAll(quote, `\\${quote}`);
  return quote + escaped.replaceAll(HIDDEN, (letter) => NAMED[letter] ?? numbered(letter)) + quote;
}

function numbered(letter: string): string {
  const code = letter.codePointAt(0)!;
  const hex = (digits: number) => code.toString(16).padStart(digits, '0');
  if (code < 0x100) return `\\x${hex(2)}`;
  return code < 0x10000 ? `\\u${hex(4)}` : `\\U${hex(8)}`;
}

/** The five characters that MarkupSafe escapes. */
export function escapeHtml(text: string): string {
  const entities: Record<string, string> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    "'": '&#39;',
    '"': '&#34;',
  };
  return text.replaceAll(/[&<>'"]/g, (letter) => entities[letter]!);
}
