import { printable, pythonStr } from './python-output.js';
import { equal, plain, truthy } from './python-values.js';
import { callOf, type Node } from './rewrite.js';
import { capitalized, STRING_METHODS, stripped } from './string-methods.js';

type Filter = (value: unknown, ...args: unknown[]) => unknown;

const list = (value: unknown): unknown[] => {
  const items = plain(value);
  if (typeof items === 'string') return Array.from(items);
  return Array.isArray(items) ? items : Object.keys(items ?? {});
};
const numbers = (value: unknown): number[] => list(value).map(Number);

/** Filters of Jinja that the library lacks, or computes in another way. */
const FILTERS: Record<string, Filter> = {
  select: (value, test, arg) => list(value).filter((item) => holds(item, test, plain(arg))),
  reject: (value, test, arg) => list(value).filter((item) => !holds(item, test, plain(arg))),
  selectattr: (value, name, test, arg) =>
    list(value).filter((item) => holds(attribute(item, name), test, plain(arg))),
  rejectattr: (value, name, test, arg) =>
    list(value).filter((item) => !holds(attribute(item, name), test, plain(arg))),
  map: (value, name) => list(value).map(textFilter(name)),
  join: (value, separator = '') => items(value).map(pythonText).join(String(separator)),
  title: (value) => capitals(String(value)),
  capitalize: (value) => capitalized(String(value)),
  reverse: (value) =>
    typeof value === 'string' ? list(value).toReversed().join('') : list(value).toReversed(),
  count: length,
  length,
  sum: (value) => numbers(value).reduce((sum, number) => sum + number, 0),
  max: (value) => numbers(value).reduce((a, b) => Math.max(a, b)),
  min: (value) => numbers(value).reduce((a, b) => Math.min(a, b)),
};

const nameOf = (filter: string): string => `python_filter_${filter}`;

/** What to hand to a template whose filters have been rewritten. */
export const FILTER_VARIABLES = Object.fromEntries(
  Object.entries(FILTERS).map(([name, run]) => [nameOf(name), run]),
);

/** Turns `value | filter(…)` into a call of ours where the library's filter won't do. */
export function pythonFilter(node: Node): Node {
  if (node.type !== 'FilterExpression') return node;
  const filter = node['filter'] as Node;
  const args = (filter['args'] ?? []) as Node[];
  const name = String(((filter['callee'] ?? filter) as Node)['value']);
  const operand = node['operand'] as Node;
  if (name === 'string') return textOf(operand);
  if (name === 'trim') return stripped(textOf(operand), args);
  const named = args.some(({ type }) => type === 'KeywordArgumentExpression');
  return Object.hasOwn(FILTERS, name) && !named ? callOf(nameOf(name), [operand, ...args]) : node;
}

/** `value ~ ''` */
function textOf(operand: Node): Node {
  const empty = { type: 'StringLiteral', value: '' };
  return { type: 'BinaryExpression', operator: { value: '~' }, left: printable(operand), right: empty };
}

/** Jinja's title, which is not str.title(): a letter after an apostrophe stays small. */
function capitals(text: string): string {
  return text.toLowerCase().replaceAll(/(?<=^|[-\s({[<])[^-\s({[<]/gu, (letter) => letter.toUpperCase());
}

function length(value: unknown): number {
  if (typeof value === 'string') return Array.from(value).length;
  if (Array.isArray(value)) return value.length;
  return value instanceof Map ? value.size : 0;
}

/** Items as the engine holds them, so that they print as they would by themselves. */
const items = (value: unknown): unknown[] => (Array.isArray(value) ? value : list(value));

const pythonText = (item: unknown): string => String(pythonStr(item));

function attribute(item: unknown, path: unknown): unknown {
  const step = (value: unknown, key: string) => (value as Record<string, unknown> | null | undefined)?.[key];
  return String(path).split('.').reduce(step, item);
}

const TEXT_FILTERS: Record<string, (text: string) => unknown> = {
  upper: (text) => text.toUpperCase(),
  lower: (text) => text.toLowerCase(),
  trim: (text) => STRING_METHODS['strip']!(text),
  length,
  string: (text) => text,
  title: capitals,
  capitalize: capitalized,
};

function textFilter(name: unknown): (item: unknown) => unknown {
  const run = Object.hasOwn(TEXT_FILTERS, String(name)) ? TEXT_FILTERS[String(name)] : undefined;
  if (!run) throw new Error(`Unknown filter for map: ${String(name)}`);
  return (item) => run(String(pythonStr(item)));
}

const TESTS: Record<string, (item: unknown, arg: unknown) => boolean> = {
  defined: (item) => item !== undefined,
  undefined: (item) => item === undefined,
  none: (item) => item === null,
  string: (item) => typeof item === 'string',
  number: (item) => typeof item === 'number' || typeof item === 'boolean',
  mapping: (item) => typeof item === 'object' && item !== null && !Array.isArray(item),
  iterable: (item) => typeof item === 'string' || (typeof item === 'object' && item !== null),
  equalto: equal,
  eq: equal,
  '==': equal,
  ne: (item, arg) => !equal(item, arg),
  '!=': (item, arg) => !equal(item, arg),
  in: (item, arg) =>
    typeof arg === 'string' ? arg.includes(String(item)) : list(arg).some((one) => equal(one, item)),
};

function holds(item: unknown, test: unknown, arg: unknown): boolean {
  if (test === undefined) return truthy(item);
  const run = Object.hasOwn(TESTS, String(test)) ? TESTS[String(test)] : undefined;
  if (!run) throw new Error(`Unknown test: ${String(test)}`);
  return run(item, arg);
}
