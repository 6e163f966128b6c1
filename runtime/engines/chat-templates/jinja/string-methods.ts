import { split, splitFromEnd, splitLines } from './splits.js';
import {
  BLANKS,
  capitalize,
  center,
  padding,
  partition,
  replace,
  strip,
  stripEnd,
  stripStart,
  titleCase,
} from './strings.js';
import { fillBraces } from './braces.js';
import { native, type NativeFunction } from './native.js';
import { fail, iterate, length, numberOf, textOf, tuple, typeName, type Value } from './values.js';

/** A method of texts, with texts and numbers as its arguments. */
function method(names: string, run: (text: string, ...args: never[]) => Value): NativeFunction {
  const given = (value: Value) => textOf(value) ?? numberOf(value) ?? wrong(value);
  return native(names, (self, ...args) => run(textOf(self)!, ...(args.map(given) as never[])));
}

const wrong = (value: Value) => (value == null ? undefined : fail(`a str is wanted, not ${typeName(value)}`));
const test = (pattern: RegExp) => method('', (text) => pattern.test(text));
const found = (at: number): number => (at < 0 ? fail('substring not found') : at);
const isCase = (changed: (text: string) => string, other: (text: string) => string) =>
  method('', (text) => text === changed(text) && text !== other(text));
const [upper, lower] = [(text: string) => text.toUpperCase(), (text: string) => text.toLowerCase()];

/** Python's str, as far as templates use it. */
export const STRING_METHODS: Record<string, NativeFunction> = {
  strip: method('chars', strip),
  lstrip: method('chars', stripStart),
  rstrip: method('chars', stripEnd),
  split: method('sep maxsplit', split),
  rsplit: method('sep maxsplit', splitFromEnd),
  splitlines: method('keepends', splitLines),
  startswith: native('prefix start end', (self, parts, ...bounds) =>
    edges(parts, (part) => within(self, bounds).text.startsWith(part)),
  ),
  endswith: native('suffix start end', (self, parts, ...bounds) =>
    edges(parts, (part) => within(self, bounds).text.endsWith(part)),
  ),
  replace: method('old new count', replace),
  lower: method('', lower),
  upper: method('', upper),
  swapcase: method('', (text) =>
    text.replaceAll(/./gsu, (one) => (one === upper(one) ? lower(one) : upper(one))),
  ),
  casefold: method('', (text) => text.replaceAll(/[ßẞ]/g, 'ss').toLowerCase()),
  title: method('', (text) => text.toLowerCase().replaceAll(/(?<!\p{L})\p{L}/gu, titleCase)),
  capitalize: method('', capitalize),
  find: finding('indexOf', (at) => at),
  rfind: finding('lastIndexOf', (at) => at),
  index: finding('indexOf', found),
  rindex: finding('lastIndexOf', found),
  count: native('sub start end', (self, part, ...bounds) => {
    const { text } = within(self, bounds);
    return part === '' ? length(text) + 1 : text.split(element(part)).length - 1;
  }),
  join: native('parts', (self, parts) => iterate(parts).map(element).join(textOf(self))),
  removeprefix: method('prefix', (text, part: string) =>
    text.startsWith(part) ? text.slice(part.length) : text,
  ),
  removesuffix: method('suffix', (text, part: string) =>
    part !== '' && text.endsWith(part) ? text.slice(0, -part.length) : text,
  ),
  partition: method('sep', (text, part: string) => partition(text, text.indexOf(part), part)),
  rpartition: method('sep', (text, part: string) =>
    text.includes(part) ? partition(text, text.lastIndexOf(part), part) : tuple(['', '', text]),
  ),
  center: method('width fill', center),
  ljust: method('width fill', (text, width: number, fill?: string) => text + padding(text, width, fill)),
  rjust: method('width fill', (text, width: number, fill?: string) => padding(text, width, fill) + text),
  zfill: method('width', (text, width: number) =>
    text.replace(/^[-+]?/, (sign) => sign + padding(text, width, '0')),
  ),
  isdigit: test(/^\p{Nd}+$/u),
  isnumeric: test(/^\p{N}+$/u),
  isdecimal: test(/^\p{Nd}+$/u),
  isalpha: test(/^\p{L}+$/u),
  isalnum: test(/^[\p{L}\p{N}]+$/u),
  // eslint-disable-next-line no-control-regex
  isascii: test(/^[\x00-\x7f]*$/),
  isspace: test(new RegExp(`^${BLANKS}+$`)),
  isupper: isCase(upper, lower),
  islower: isCase(lower, upper),
  format: { names: ['*'], run: (self, ...args) => fillBraces(textOf(self)!, args) },
};

/** The text between two places, and where it begins. */
function within(self: Value, [start, end]: Value[]): { text: string; start: number } {
  const letters = Array.from(textOf(self)!);
  const at = (bound: Value, usual: number) => {
    const place = numberOf(bound) ?? usual;
    return Math.max(0, place < 0 ? place + letters.length : place);
  };
  const first = at(start, 0);
  return { text: letters.slice(first, at(end, letters.length)).join(''), start: first };
}

/** Where a part stands, in code points. */
function finding(search: 'indexOf' | 'lastIndexOf', result: (at: number) => number): NativeFunction {
  return native('sub start end', (self, part, ...bounds) => {
    const { text, start } = within(self, bounds);
    const unit = text[search](element(part));
    return result(unit < 0 ? -1 : start + length(text.slice(0, unit)));
  });
}

const element = (part: Value): string =>
  textOf(part) ?? fail(`sequence item: expected str instance, ${typeName(part)} found`);

function edges(parts: Value, holds: (part: string) => boolean): boolean {
  return (Array.isArray(parts) ? parts : [parts]).map(element).some(holds);
}
