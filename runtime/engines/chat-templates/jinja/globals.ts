import { orderArguments } from './native.js';
import { strftime } from './strftime.js';
import { str } from './text.js';
import { type CallArguments, type Callable, fail, isInteger, iterate, type Value } from './values.js';

/** More than Python's sandbox lets a range have is an error. */
const MAX_RANGE = 100_000;

const taking =
  (names: string, run: (...args: Value[]) => Value): Callable =>
  (args) =>
    run(...orderArguments(names.split(' '), args));

function range(...bounds: Value[]): Value {
  if (!bounds.every((bound) => isInteger(bound))) fail('range takes integers');
  const [first, second, step = 1] = bounds as number[];
  const [start, stop] = second === undefined ? [0, first!] : [first!, second];
  if (step === 0) fail('range() arg 3 must not be zero');
  const count = Math.max(0, Math.ceil((stop - start) / step));
  if (count > MAX_RANGE)
    fail(`Range too big. The sandbox blocks ranges larger than MAX_RANGE (${MAX_RANGE}).`);
  return Array.from({ length: count }, (_, i) => start + i * step);
}

function dict({ positional: [from], named }: CallArguments): Map<Value, Value> {
  const pairs = from instanceof Map ? [...from] : iterate(from).map(iterate);
  return new Map([...(pairs as [Value, Value][]), ...named]);
}

function namespace(args: CallArguments): Value {
  const attributes = dict(args);
  return {
    read: (name) => attributes.get(name),
    write: (name, value) => void attributes.set(name, value),
  };
}

function cycler({ positional: items }: CallArguments): Value {
  let at = 0;
  const methods: Record<string, Value> = {
    next: () => {
      at = (at + 1) % items.length;
      return items.at(at - 1);
    },
    reset: () => {
      at = 0;
      return null;
    },
  };
  return { read: (name) => (name === 'current' ? items[at] : methods[name]) };
}

function joiner(separator: Value = ', '): Callable {
  let used = false;
  return () => {
    const text = used ? separator : '';
    used = true;
    return text;
  };
}

/** What every template can call. */
export const GLOBALS: ReadonlyMap<string, Value> = new Map<string, Value>([
  ['range', taking('start stop step', range)],
  ['dict', dict],
  ['namespace', namespace],
  ['cycler', cycler],
  ['joiner', taking('sep', joiner)],
  ['raise_exception', taking('message', (message) => fail(str(message)))],
  ['strftime_now', taking('format', (format) => strftime(str(format), new Date()))],
]);
