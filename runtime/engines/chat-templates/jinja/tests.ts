import { compare, contains, equal } from './compare.js';
import { methodOf } from './methods.js';
import { OPERATORS } from './operators.js';
import { str } from './text.js';
import { fail, isFloat, isInteger, isMarkup, numberOf, textOf, truthy, type Value } from './values.js';

type Test = (value: Value, argument: Value) => boolean;

const isText: Test = (value) => textOf(value) !== undefined;
const isWalked: Test = (value) => isText(value, null) || Array.isArray(value) || value instanceof Map;
const says =
  (method: string): Test =>
  (value) =>
    methodOf(str(value), method)!.run(str(value)) === true;
const remainder = (value: Value, by: Value) => OPERATORS['%']!(value, by);
const [less, equals, more]: Test[] = [
  (value, other) => compare(value, other) < 0,
  equal,
  (value, other) => compare(value, other) > 0,
];
const isCallable: Test = (value) => typeof value === 'function';

/** Jinja's tests: `value is name(argument)`. */
export const TESTS: Record<string, Test> = {
  defined: (value) => value !== undefined,
  undefined: (value) => value === undefined,
  none: (value) => value === null,
  boolean: (value) => typeof value === 'boolean',
  true: (value) => value === true,
  false: (value) => value === false,
  integer: isInteger,
  float: (value) => isFloat(value) || (typeof value === 'number' && !isInteger(value)),
  number: (value) => numberOf(value) !== undefined,
  string: isText,
  mapping: (value) => value instanceof Map,
  sequence: (value) => value === undefined || isWalked(value, null),
  iterable: (value) => value === undefined || isWalked(value, null),
  callable: isCallable,
  escaped: isMarkup,
  lower: says('islower'),
  upper: says('isupper'),
  odd: (value) => equal(remainder(value, 2), 1),
  even: (value) => equal(remainder(value, 2), 0),
  divisibleby: (value, by) => equal(remainder(value, by), 0),
  sameas: (value, other) => value === other,
  in: (value, container) => contains(container, value),
  ...{ '==': equals!, eq: equals!, equalto: equals! },
  ...{ '!=': (value, other) => !equal(value, other), ne: (value, other) => !equal(value, other) },
  ...{ '<': less!, lt: less!, lessthan: less!, '>': more!, gt: more!, greaterthan: more! },
  ...{ '<=': (value, other) => !more!(value, other), le: (value, other) => !more!(value, other) },
  ...{ '>=': (value, other) => !less!(value, other), ge: (value, other) => !less!(value, other) },
};

/** @throws Error for a name that is no test of Jinja's */
export function applyTest(name: Value, value: Value, argument: Value): boolean {
  const key = str(name);
  if (!Object.hasOwn(TESTS, key)) fail(`No test named '${key}'.`);
  return truthy(TESTS[key]!(value, argument));
}
