import { types } from 'node:util';

/** Values of templates, as Python has them: None is null, undefined is Jinja's Undefined, integers beyond 2^53 are bigints. */
export type Value =
  | undefined
  | null
  | boolean
  | number
  | bigint
  | string
  | Value[]
  | Map<Value, Value>
  | Float
  | Markup
  | JinjaObject
  | Callable;

/** A float without a fraction, which prints as 1.0; floats with one are plain numbers, like integers. */
export interface Float {
  readonly float: number;
}

/** Text that `safe` or `escape` has marked: what is added to it gets escaped. */
export interface Markup {
  readonly markup: string;
}

/** Namespaces, loops and cyclers. */
export interface JinjaObject {
  /** The attribute of that name. */
  read(name: string): Value;
  /** Namespaces take new attributes. */
  write?(name: string, value: Value): void;
  call?: Callable;
}

export interface CallArguments {
  positional: Value[];
  named: Map<string, Value>;
}

export type Callable = (args: CallArguments) => Value;

/** @throws Error what the template did wrong, in Python's words where it is Python that says so */
export function fail(message: string): never {
  throw new Error(message);
}

const tuples = new WeakMap<Value[], readonly string[]>();
export const isTuple = (items: Value[]): boolean => tuples.has(items);

/** Makes a list a tuple, whose items may have names. */
export function tuple(items: Value[], names: readonly string[] = []): Value[] {
  tuples.set(items, names);
  return items;
}

/** A tuple's item by its name. */
export const field = (items: Value[], name: string): Value => items[tuples.get(items)?.indexOf(name) ?? -1];

const isObject = (
  value: Value,
): value is Exclude<Value, undefined | null | boolean | number | bigint | string> =>
  typeof value === 'object' && value !== null;
export const isFloat = (value: Value): value is Float => isObject(value) && 'float' in value;
export const isMarkup = (value: Value): value is Markup => isObject(value) && 'markup' in value;
export const isJinjaObject = (value: Value): value is JinjaObject => isObject(value) && 'read' in value;

/** What JSON holds, dictionaries as maps. A Number object is a float without a fraction. */
export function fromJson(value: unknown): Value {
  if (types.isNumberObject(value)) return float(Number(value));
  if (Array.isArray(value)) return value.map(fromJson);
  if (typeof value !== 'object' || value === null) return value as Value;
  return new Map(Object.entries(value).map(([key, item]) => [key, fromJson(item)]));
}

/** Text of a string, marked or not; undefined for other values. */
export const textOf = (value: Value): string | undefined =>
  typeof value === 'string' ? value : isMarkup(value) ? value.markup : undefined;

/** A number, which True and False are, too; undefined for other values. Integers beyond 2^53 are rounded. */
export function numberOf(value: Value): number | undefined {
  if (typeof value === 'bigint') return Number(value);
  if (typeof value === 'number') return value;
  if (typeof value === 'boolean') return Number(value);
  return isFloat(value) ? value.float : undefined;
}

/** Infinity and NaN are floats, as they are in Python. */
export const isInteger = (value: Value): value is number | bigint =>
  typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value));

/** The float of that size. */
export const float = (size: number): Value => (Number.isInteger(size) ? { float: size } : size);

export function typeName(value: Value): string {
  if (value === undefined) return 'Undefined';
  if (value === null) return 'NoneType';
  if (Array.isArray(value)) return isTuple(value) ? 'tuple' : 'list';
  if (value instanceof Map) return 'dict';
  if (isMarkup(value)) return 'Markup';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int' : 'float';
  const names: Record<string, string> = {
    string: 'str',
    boolean: 'bool',
    bigint: 'int',
    function: 'function',
  };
  return isFloat(value) ? 'float' : (names[typeof value] ?? 'object');
}

/** Python's bool(). */
export function truthy(value: Value): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (value instanceof Map) return value.size > 0;
  return isObject(value) ? Boolean(textOf(value) ?? numberOf(value) ?? true) : Boolean(value);
}

/** Characters, items, or keys. @throws Error for what can't be walked through */
export function iterate(value: Value): Value[] {
  const text = textOf(value);
  if (text !== undefined) return Array.from(text);
  if (Array.isArray(value)) return value;
  if (value instanceof Map) return [...value.keys()];
  return value === undefined ? [] : fail(`'${typeName(value)}' object is not iterable`);
}

/** Python's len(). */
export function length(value: Value): number {
  const sized = textOf(value) !== undefined || Array.isArray(value) || value == null || value instanceof Map;
  if (!sized || value === null) fail(`object of type '${typeName(value)}' has no len()`);
  return iterate(value).length;
}
