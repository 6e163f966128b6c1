import { compare, equal } from './compare.js';
import { item } from './lookup.js';
import { native, type NativeFunction } from './native.js';
import { OPERATORS } from './operators.js';
import { str } from './text.js';
import { fail, iterate, length, numberOf, textOf, truthy, tuple, type Value } from './values.js';

/** What an attribute's path (`a.b.0`) leads to from an item; the item itself without one. */
export function getter(path: Value, otherwise?: Value): (from: Value) => Value {
  if (path == null) return (from) => from;
  const parts = str(path)
    .split('.')
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part));
  return (from) => parts.reduce<Value>((value, part) => step(value, part, otherwise), from);
}

function step(value: Value, part: Value, otherwise: Value): Value {
  if (value === undefined) fail(`'${str(part)}' is looked for in an undefined value`);
  const found = item(value, part);
  return found === undefined ? otherwise : found;
}

/** Keys to sort by: texts in small letters unless their case counts, several where paths are joined by commas. */
function sortKey(path: Value, keepsCase: Value): (from: Value) => Value {
  const folded = (value: Value) => (truthy(keepsCase) ? value : (textOf(value)?.toLowerCase() ?? value));
  const getters =
    path == null
      ? [getter(null)]
      : str(path)
          .split(',')
          .map((part) => getter(part));
  return (from) => getters.map((get) => folded(get(from)));
}

function sorted(value: Value, key: (from: Value) => Value, reverse: Value): Value[] {
  const rows = iterate(value).map((one) => ({ one, key: key(one) }));
  const sign = truthy(reverse) ? -1 : 1;
  return rows.sort((a, b) => sign * compare(a.key, b.key)).map(({ one }) => one);
}

const extreme = (sign: number): NativeFunction =>
  native('case_sensitive attribute', (value, keepsCase, path) => {
    const key = sortKey(path, keepsCase);
    const better = (a: Value, b: Value) => (sign * compare(key(b), key(a)) > 0 ? b : a);
    const items = iterate(value);
    return items.length > 0 ? items.reduce(better) : undefined;
  });

export const LIST_FILTERS: Record<string, NativeFunction> = {
  list: native('', (value) => [...iterate(value)]),
  length: native('', length),
  count: native('', length),
  first: native('', (value) => iterate(value)[0]),
  last: native('', (value) => iterate(value).at(-1)),
  reverse: native('', (value) => {
    const items = iterate(value).toReversed();
    return textOf(value) === undefined ? items : items.map(str).join('');
  }),
  join: native('d attribute', (value, separator, path) => {
    return iterate(value).map(getter(path)).map(str).join(str(separator));
  }),
  items: native('', (value) => {
    if (value !== undefined && !(value instanceof Map)) fail('Can only get item pairs from a mapping.');
    return value ? [...value].map((pair) => tuple(pair)) : [];
  }),
  dictsort: native('case_sensitive by reverse', (value, keepsCase, by, reverse) => {
    const pairs =
      value instanceof Map ? [...value].map((pair) => tuple(pair)) : fail('dictsort takes a dict');
    return sorted(pairs, sortKey(by === 'value' ? '1' : '0', keepsCase), reverse);
  }),
  sort: native('reverse case_sensitive attribute', (value, reverse, keepsCase, path) =>
    sorted(value, sortKey(path, keepsCase), reverse),
  ),
  unique: native('case_sensitive attribute', (value, keepsCase, path) => {
    const key = sortKey(path, keepsCase);
    const keys: Value[] = [];
    return iterate(value).filter((one) => {
      const mine = key(one);
      return keys.some((known) => equal(known, mine)) ? false : keys.push(mine) > 0;
    });
  }),
  groupby: native('attribute default case_sensitive', (value, path, otherwise, keepsCase) => {
    const shown = getter(path, otherwise);
    const folded = (one: Value) =>
      truthy(keepsCase) ? shown(one) : (textOf(shown(one))?.toLowerCase() ?? shown(one));
    const groups: { key: Value; rows: Value[] }[] = [];
    for (const one of sorted(value, folded, false)) {
      const last = groups.at(-1);
      if (last && equal(last.key, folded(one))) last.rows.push(one);
      else groups.push({ key: folded(one), rows: [one] });
    }
    return groups.map(({ rows }) => tuple([shown(rows[0]), rows], ['grouper', 'list']));
  }),
  batch: native('linecount fill_with', (value, size, fill) => {
    const [items, count] = [iterate(value), Math.max(1, numberOf(size) ?? 1)];
    const rows: Value[][] = [];
    for (let at = 0; at < items.length; at += count) rows.push(items.slice(at, at + count));
    return rows.map((row) =>
      fill == null ? row : [...row, ...new Array<Value>(count - row.length).fill(fill)],
    );
  }),
  slice: native('slices fill_with', (value, slices, fill) => {
    const [items, count] = [iterate(value), Math.max(1, numberOf(slices) ?? 1)];
    const [size, extra] = [Math.floor(items.length / count), items.length % count];
    return Array.from({ length: count }, (_, n) => {
      const from = n * size + Math.min(n, extra);
      const row = items.slice(from, from + size + Number(n < extra));
      return fill == null || n < extra ? row : [...row, fill];
    });
  }),
  sum: native('attribute start', (value, path, start = 0) =>
    iterate(value).map(getter(path)).reduce(OPERATORS['+']!, start),
  ),
  min: extreme(-1),
  max: extreme(1),
  attr: native('name', (value, name) => (value instanceof Map ? undefined : item(value, name))),
  default: native('default_value boolean', orDefault),
  d: native('default_value boolean', orDefault),
};

function orDefault(value: Value, otherwise: Value = '', boolean?: Value): Value {
  return value === undefined || (truthy(boolean) && !truthy(value)) ? otherwise : value;
}
