import { equal } from './compare.js';
import { native, type NativeFunction } from './native.js';
import { STRING_METHODS } from './string-methods.js';
import { fail, isMarkup, textOf, tuple, typeName, type Value } from './values.js';

const entries = (value: Value): [Value, Value][] => [...(value as Map<Value, Value>)];

const DICT_METHODS: Record<string, NativeFunction> = {
  get: native('key default', (self, key, otherwise = null) => {
    const map = self as Map<Value, Value>;
    return map.has(key) ? map.get(key) : otherwise;
  }),
  keys: native('', (self) => entries(self).map(([key]) => key)),
  values: native('', (self) => entries(self).map(([, value]) => value)),
  items: native('', (self) => entries(self).map((pair) => tuple(pair))),
  copy: native('', (self) => new Map(entries(self))),
};

const LIST_METHODS: Record<string, NativeFunction> = {
  count: native('item', (self, item) => (self as Value[]).filter((one) => equal(one, item)).length),
  index: native('item', (self, item) => {
    const at = (self as Value[]).findIndex((one) => equal(one, item));
    return at < 0 ? fail('the item is not in list') : at;
  }),
  copy: native('', (self) => [...(self as Value[])]),
};

/** The method of that name that Python's type has; those that change a value are what its sandbox leaves out. */
export function methodOf(value: Value, name: string): NativeFunction | undefined {
  const type = textOf(value) === undefined ? typeName(value) : 'str';
  const methods = { str: STRING_METHODS, dict: DICT_METHODS, list: LIST_METHODS, tuple: LIST_METHODS }[type];
  if (!methods || !Object.hasOwn(methods, name)) return undefined;
  return isMarkup(value) ? marked(methods[name]!) : methods[name];
}

/** Marked text stays marked. */
const marked = (method: NativeFunction): NativeFunction => ({
  ...method,
  run: (self, ...args) => {
    const result = method.run(textOf(self), ...args);
    return Array.isArray(result) ? result.map(mark) : mark(result);
  },
});

const mark = (value: Value): Value => (typeof value === 'string' ? { markup: value } : value);
