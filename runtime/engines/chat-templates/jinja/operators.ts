import { compare, contains, equal } from './compare.js';
import { formatPercent } from './percent.js';
import { escapeHtml, str } from './text.js';
import {
  fail,
  float,
  isInteger,
  isMarkup,
  isTuple,
  numberOf,
  textOf,
  tuple,
  typeName,
  type Value,
} from './values.js';

type Operator = (left: Value, right: Value) => Value;

const ordered =
  (holds: (order: number) => boolean): Operator =>
  (left, right) =>
    holds(compare(left, right));

/** What stands between two values, but for `and` and `or`. */
export const OPERATORS: Record<string, Operator> = {
  '==': equal,
  '!=': (left, right) => !equal(left, right),
  '<': ordered((order) => order < 0),
  '<=': ordered((order) => order <= 0),
  '>': ordered((order) => order > 0),
  '>=': ordered((order) => order >= 0),
  in: (left, right) => contains(right, left),
  'not in': (left, right) => !contains(right, left),
  '~': (left, right) => str(left) + str(right),
  '+': add,
  '-': (left, right) => arithmetic('-', left, right),
  '*': multiply,
  '/': (left, right) => arithmetic('/', left, right),
  '//': (left, right) => arithmetic('//', left, right),
  '%': (left, right) =>
    textOf(left) === undefined ? arithmetic('%', left, right) : formatPercent(left, right),
  '**': (left, right) => arithmetic('**', left, right),
};

function refuse(operator: string, left: Value, right: Value): never {
  if (left === undefined || right === undefined) fail('an undefined value can’t be reckoned with');
  return fail(`unsupported operand type(s) for ${operator}: '${typeName(left)}' and '${typeName(right)}'`);
}

function add(left: Value, right: Value): Value {
  const [a, b] = [textOf(left), textOf(right)];
  if (a !== undefined && b !== undefined) return joined(left, right);
  if (Array.isArray(left) && Array.isArray(right) && isTuple(left) === isTuple(right)) {
    return isTuple(left) ? tuple([...left, ...right]) : [...left, ...right];
  }
  return arithmetic('+', left, right);
}

/** Two texts as one; beside marked text the other gets escaped. */
function joined(left: Value, right: Value): Value {
  if (!isMarkup(left) && !isMarkup(right)) return str(left) + str(right);
  const marked = (value: Value) => (isMarkup(value) ? value.markup : escapeHtml(str(value)));
  return { markup: marked(left) + marked(right) };
}

function multiply(left: Value, right: Value): Value {
  const [times, other] = isInteger(left) ? [left, right] : [right, left];
  const text = textOf(other);
  const count = Math.max(0, numberOf(times) ?? 0);
  if (!isInteger(times) || (text === undefined && !Array.isArray(other))) return arithmetic('*', left, right);
  if (Array.isArray(other)) {
    const items = Array.from<Value[]>({ length: count }).fill(other).flat();
    return isTuple(other) ? tuple(items) : items;
  }
  const repeated = text!.repeat(count);
  return isMarkup(other) ? { markup: repeated } : repeated;
}

const COUNTED: Record<string, (a: number, b: number) => number> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
  '//': (a, b) => Math.floor(a / b),
  '%': (a, b) => a - Math.floor(a / b) * b,
  '**': (a, b) => a ** b,
};

const isWhole = (value: Value): value is number | bigint | boolean =>
  isInteger(value) || typeof value === 'boolean';

const floored = (a: bigint, b: bigint): bigint => a / b - BigInt(a % b !== 0n && a < 0n !== b < 0n);

/** For integers beyond 2^53. */
const EXACT: Record<string, (a: bigint, b: bigint) => bigint> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '//': floored,
  '%': (a, b) => a - floored(a, b) * b,
};

const narrowed = (size: bigint): Value => (Number.isSafeInteger(Number(size)) ? Number(size) : size);

/** Integers stay integers, but for what a division or a negative power gives. */
function arithmetic(operator: string, left: Value, right: Value): Value {
  const exact = EXACT[operator];
  if (exact && isWhole(left) && isWhole(right) && [left, right].some((value) => typeof value === 'bigint')) {
    if (!right && operator !== '-' && operator !== '+' && operator !== '*') fail('division by zero');
    return narrowed(exact(BigInt(left), BigInt(right)));
  }
  const [a, b] = [numberOf(left), numberOf(right)];
  if (a === undefined || b === undefined) return refuse(operator, left, right);
  if (b === 0 && /[/%]/.test(operator)) fail('division by zero');
  const result = COUNTED[operator]!(a, b);
  const whole = [left, right].every(isWhole);
  return whole && operator !== '/' && !(operator === '**' && b < 0) ? result : float(result);
}

export function negated(value: Value): Value {
  if (typeof value === 'bigint') return narrowed(-value);
  const size = numberOf(value) ?? fail(`bad operand type for unary -: '${typeName(value)}'`);
  return typeof value === 'object' ? float(-size) : -size;
}
