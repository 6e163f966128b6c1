import { getter, LIST_FILTERS } from './list-filters.js';
import { orderArguments, type NativeFunction } from './native.js';
import { formatPercent } from './percent.js';
import { str } from './text.js';
import { TEXT_FILTERS } from './text-filters.js';
import { applyTest } from './tests.js';
import { type CallArguments, fail, iterate, truthy, tuple, type Value } from './values.js';

const FILTERS: Record<string, NativeFunction> = { ...TEXT_FILTERS, ...LIST_FILTERS };

/** None, 0 and False have no items here. */
const itemsOf = (value: Value): Value[] => (truthy(value) ? iterate(value) : []);

/** Filters that apply other filters, or tests, to each item; and one that takes names as Python's % does. */
const WALKERS: Record<string, (value: Value, args: CallArguments) => Value> = {
  format: (value, { positional, named }) =>
    formatPercent(value, named.size > 0 ? new Map(named) : tuple(positional)),
  map: (value, args) => itemsOf(value).map(mapped(args)),
  select: (value, args) => itemsOf(value).filter(chosen(args)),
  reject: (value, args) => itemsOf(value).filter((one) => !chosen(args)(one)),
  selectattr: (value, args) => itemsOf(value).filter(chosenBy(args)),
  rejectattr: (value, args) => itemsOf(value).filter((one) => !chosenBy(args)(one)),
};

/** `value | name(args)`. @throws Error for a name that is no filter of Jinja's */
export function filter(name: string, value: Value, args: CallArguments): Value {
  if (Object.hasOwn(WALKERS, name)) return WALKERS[name]!(value, args);
  if (!Object.hasOwn(FILTERS, name)) fail(`No filter named '${name}'.`);
  const { names, run } = FILTERS[name]!;
  return run(value, ...orderArguments(names, args));
}

function mapped({ positional, named }: CallArguments): (item: Value) => Value {
  const [name, ...rest] = positional;
  if (name !== undefined) return (item) => filter(str(name), item, { positional: rest, named });
  if (!named.has('attribute')) fail('map requires a filter argument');
  return getter(named.get('attribute'), named.get('default') ?? undefined);
}

function chosen({ positional: [test, argument] }: CallArguments): (item: Value) => boolean {
  return (item) => (test === undefined ? truthy(item) : applyTest(test, item, argument));
}

function chosenBy({ positional: [path, ...rest], named }: CallArguments): (item: Value) => boolean {
  const [get, picks] = [getter(path), chosen({ positional: rest, named })];
  return (item) => picks(get(item));
}
