import { escapeHtml, floatText, repr, str } from './text.js';
import { fail, isMarkup, isTuple, numberOf, textOf, type Value } from './values.js';

const FIELD = /%(?:\(([^)]*)\))?([-+ 0#]*)(\*|\d+)?(?:\.(\d+))?([a-zA-Z%])/g;

interface Field {
  flags: string;
  width: number;
  precision: number | undefined;
  kind: string;
}

/** Python's `template % values`. */
export function formatPercent(template: Value, values: Value): Value {
  const given = Array.isArray(values) && isTuple(values) ? [...values] : [values];
  const text = textOf(template) ?? str(template);
  const done = text.replaceAll(FIELD, (_, name: string | undefined, ...rest: string[]) => {
    const field = fieldOf(rest);
    if (field.kind === '%') return '%';
    const value = take(name);
    const safe = isMarkup(template) && !isMarkup(value) && textOf(value) !== undefined;
    return padded(converted(safe ? escapeHtml(str(value)) : value, field), field);
  });
  if (!(values instanceof Map) && given.length > 0)
    fail('not all arguments converted during string formatting');
  return isMarkup(template) ? { markup: done } : done;

  function take(name: string | undefined): Value {
    if (name !== undefined)
      return values instanceof Map ? values.get(name) : fail('format requires a mapping');
    return given.length > 0 ? given.shift() : fail('not enough arguments for format string');
  }
}

function fieldOf([flags = '', width, precision, kind = '']: string[]): Field {
  return { flags, width: Number(width ?? 0), precision: precision ? Number(precision) : undefined, kind };
}

function converted(value: Value, { kind, precision, flags }: Field): string {
  if (kind === 's' || kind === 'r') return (kind === 's' ? str(value) : repr(value)).slice(0, precision);
  const size = numberOf(value) ?? fail(`%${kind} format: a real number is required`);
  const sign = size < 0 ? '-' : (/[+ ]/.exec(flags)?.[0] ?? '');
  return sign + digits(Math.abs(size), kind, precision);
}

function digits(size: number, kind: string, precision = 6): string {
  if (kind === 'd' || kind === 'i') return String(Math.trunc(size));
  if (kind === 'f' || kind === 'F') return size.toFixed(precision);
  if (kind === 'x') return size.toString(16);
  if (kind === 'X') return size.toString(16).toUpperCase();
  if (kind === 'o') return size.toString(8);
  if (kind === 'e') return size.toExponential(precision).replace(/e([+-])(\d)$/, 'e$10$2');
  if (kind === 'g') return floatText(Number(size.toPrecision(precision || 1))).replace(/\.0$/, '');
  return fail(`unsupported format character '${kind}'`);
}

function padded(text: string, { flags, width, kind }: Field): string {
  if (flags.includes('-')) return text.padEnd(width);
  if (!flags.includes('0') || kind === 's' || kind === 'r') return text.padStart(width);
  const sign = /^[-+ ]?/.exec(text)![0];
  return sign + text.slice(sign.length).padStart(width - sign.length, '0');
}
