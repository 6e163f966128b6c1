/** A value inside the template engine: nested values keep the engine's own boxes. */
export interface Boxed {
  type: string;
  value: unknown;
}

/** Dictionaries of requests may have a `type` and a `value`, too, but no such type. */
export function isBoxed(item: unknown): item is Boxed {
  const type = typeof item === 'object' && item !== null && 'type' in item && item.type;
  return typeof type === 'string' && type.endsWith('Value');
}

/** The value without boxes, all the way down; a dictionary as an object. */
export function plain(value: unknown): unknown {
  if (isBoxed(value)) return value.type === 'NullValue' ? null : plain(value.value);
  if (Array.isArray(value)) return value.map(plain);
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, item]) => [key, plain(item)]));
  return value;
}

/** Python's ==. Of None and undefined, which come without a box, the caller knows more (`noneTest`). */
export function equal(one: unknown, other: unknown): boolean {
  const [a, b] = [plain(one), plain(other)];
  if (a == null || b == null) return a == null && b == null;
  if (typeof a === 'boolean' || typeof b === 'boolean') return sameNumber(a, b);
  if (typeof a !== 'object' || typeof b !== 'object') return a === b;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [keys, others] = [Object.keys(a), Object.keys(b)];
  const field = (from: object, key: string) => (from as Record<string, unknown>)[key];
  return (
    keys.length === others.length && keys.every((key) => key in b && equal(field(a, key), field(b, key)))
  );
}

function sameNumber(a: unknown, b: unknown): boolean {
  const isNumber = (value: unknown) => typeof value === 'boolean' || typeof value === 'number';
  return isNumber(a) && isNumber(b) && Number(a) === Number(b);
}

/** Python's bool(). */
export function truthy(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return typeof value === 'object' && value !== null ? Object.keys(value).length > 0 : Boolean(value);
}
