import { fail, isTuple, iterate, numberOf, textOf, typeName, type Value } from './values.js';

const atom = (value: Value): Value =>
  typeof value === 'bigint' ? value : (numberOf(value) ?? textOf(value) ?? value);

const isNumeric = (value: Value): value is number | bigint =>
  typeof value === 'number' || typeof value === 'bigint';

/** Python's ==. */
export function equal(one: Value, other: Value): boolean {
  const [a, b] = [atom(one), atom(other)];
  if (Array.isArray(a) && Array.isArray(b)) {
    return (
      isTuple(a) === isTuple(b) && a.length === b.length && a.every((item, index) => equal(item, b[index]))
    );
  }
  if (a instanceof Map && b instanceof Map) {
    return a.size === b.size && [...a].every(([key, item]) => b.has(key) && equal(item, b.get(key)));
  }
  if (isNumeric(a) && isNumeric(b)) return a <= b && a >= b;
  return a === b;
}

/** Less than 0 where the first stands before the second. @throws Error for values without an order */
export function compare(one: Value, other: Value): number {
  const [a, b] = [atom(one), atom(other)];
  if (isNumeric(a) && isNumeric(b)) return a < b ? -1 : Number(a > b);
  if (typeof a === 'string' && typeof b === 'string') return compareTexts(a, b);
  if (Array.isArray(a) && Array.isArray(b)) {
    const at = a.findIndex((item, index) => index >= b.length || !equal(item, b[index]));
    return at < 0 || at >= b.length ? a.length - b.length : compare(a[at], b[at]);
  }
  const types = [one, other].map((value) => `'${typeName(value)}'`);
  return fail(`'<' not supported between instances of ${types.join(' and ')}`);
}

/** By code points: halves of pairs stand behind all other units. */
function compareTexts(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  const rank = (text: string) => {
    const unit = text.charCodeAt(at);
    return unit >= 0xe000 ? unit - 0x800 : unit >= 0xd800 ? unit + 0x2000 : unit;
  };
  return at >= a.length || at >= b.length ? a.length - b.length : rank(a) - rank(b);
}

/** Python's `item in container`. */
export function contains(container: Value, item: Value): boolean {
  const text = textOf(container);
  if (text !== undefined) {
    const part = textOf(item) ?? fail(`'in <string>' requires string as left operand, not ${typeName(item)}`);
    return text.includes(part);
  }
  if (container instanceof Map) return container.has(atom(item));
  return iterate(container).some((one) => equal(one, item));
}
