import { methodOf } from './methods.js';
import { bindMethod } from './native.js';
import {
  fail,
  field,
  isInteger,
  isMarkup,
  isJinjaObject,
  isTuple,
  numberOf,
  textOf,
  tuple,
  type Value,
} from './values.js';

/** `value.name`: Python's attributes first (methods), then items. */
export function attribute(value: Value, name: string): Value {
  if (isJinjaObject(value)) return value.read(name);
  const method = methodOf(value, name);
  if (method) return bindMethod(method, value);
  if (Array.isArray(value)) return field(value, name);
  return value instanceof Map ? value.get(name) : undefined;
}

/** `value[key]`: items first, then attributes. */
export function item(value: Value, key: Value): Value {
  const at = numberOf(key);
  const items = Array.isArray(value) ? value : undefined;
  if (items && at !== undefined) return items.at(at);
  const text = textOf(value);
  if (text !== undefined && at !== undefined) {
    const letter = Array.from(text).at(at);
    return isMarkup(value) && letter !== undefined ? { markup: letter } : letter;
  }
  if (value instanceof Map && value.has(textOf(key) ?? at ?? key)) return value.get(textOf(key) ?? at ?? key);
  const name = textOf(key);
  return name === undefined ? undefined : attribute(value, name);
}

export type Bounds = [start: Value, stop: Value, step: Value];

/** `value[start:stop:step]` of texts (by code points), lists and tuples; undefined for other values. */
export function slice(value: Value, bounds: Bounds): Value {
  const text = textOf(value);
  if (text !== undefined) {
    const part = picked(Array.from(text), bounds).join('');
    return isMarkup(value) ? { markup: part } : part;
  }
  if (!Array.isArray(value)) return undefined;
  return isTuple(value) ? tuple(picked(value, bounds)) : picked(value, bounds);
}

function picked<Item>(items: Item[], bounds: Bounds): Item[] {
  const [start, stop, step = 1] = bounds.map(index);
  if (step === 0) fail('slice step cannot be zero');
  const [low, high] = step > 0 ? [0, items.length] : [-1, items.length - 1];
  const clamped = (at: number) => Math.min(high, Math.max(low, at < 0 ? at + items.length : at));
  const first = start === undefined ? (step > 0 ? low : high) : clamped(start);
  const last = stop === undefined ? (step > 0 ? high : low) : clamped(stop);
  const found: Item[] = [];
  for (let at = first; step > 0 ? at < last : at > last; at += step) found.push(items[at]!);
  return found;
}

function index(bound: Value): number | undefined {
  if (bound == null) return undefined;
  if (!isInteger(bound) && typeof bound !== 'boolean') fail('slice indices must be integers or None');
  return numberOf(bound);
}
