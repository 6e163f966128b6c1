import { objectOf, resolved } from './references.js';

type Schema = Record<string, unknown>;

/** Schemas that are looked at, each once. */
const MOST_FOLLOWED = 100;

/**
 * Types that a schema allows for a value, in its order; empty where it says none.
 * @param root what its references are looked up in; each is followed once
 */
export function schemaTypes(given: unknown, root: Schema = {}, followed = new Set<unknown>()): string[] {
  const { $ref } = objectOf(given);
  if (followed.has($ref ?? given) || followed.size > MOST_FOLLOWED) return [];
  followed.add($ref ?? given);
  const { type, anyOf, oneOf, nullable, enum: values, const: value } = resolved(given, root);
  const declared = [type].flat().filter((one): one is string => typeof one === 'string');
  const choices = [anyOf, oneOf].flat().slice(0, 32);
  const all = [...declared, ...choices.flatMap((choice) => schemaTypes(choice, root, followed))];
  if (all.length === 0 && value !== undefined) all.push(jsonType(value));
  if (all.length === 0 && Array.isArray(values)) all.push(...values.map(jsonType));
  if (nullable === true) all.push('null');
  return [...new Set(all)];
}

function jsonType(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value;
}

/**
 * An untyped value as JSON, of the first of the types that it can be read as, as transformers' `_coerce` does (5.24); a text where it
 * can be read as none. JSON stays as it is written.
 */
export function castValue(raw: string, types: readonly string[]): string {
  const text = raw.trim();
  for (const type of types) {
    const cast = CASTS[type]?.(text);
    if (cast !== undefined) return cast;
  }
  return JSON.stringify(raw);
}

const JSON_NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const MOST_DIGITS = 400;

function numberText(text: string): string | undefined {
  if (text === '' || text.length > MOST_DIGITS || !/^[+-]?[\d.]+([eE][+-]?\d+)?$/.test(text))
    return undefined;
  const value = Number(text);
  if (!Number.isFinite(value)) return undefined;
  return JSON_NUMBER.test(text) ? text : String(value);
}

function integerText(text: string): string | undefined {
  if (text.length <= MOST_DIGITS && /^[+-]?\d+$/.test(text)) return String(BigInt(text.replace('+', '')));
  const number = numberText(text);
  return number !== undefined && Number.isInteger(Number(number))
    ? String(BigInt(Number(number)))
    : undefined;
}

function decoded(text: string, fits: (value: unknown) => boolean): string | undefined {
  try {
    return fits(JSON.parse(text)) ? text : undefined;
  } catch {
    return undefined;
  }
}

const CASTS: Readonly<Record<string, (text: string) => string | undefined>> = {
  integer: integerText,
  number: numberText,
  boolean(text) {
    const lower = text.toLowerCase();
    if (lower === 'true' || lower === '1') return 'true';
    return lower === 'false' || lower === '0' ? 'false' : undefined;
  },
  null: (text) => (text === 'null' || text === 'None' ? 'null' : undefined),
  array: (text) => decoded(text, Array.isArray),
  object: (text) =>
    decoded(text, (value) => typeof value === 'object' && value !== null && !Array.isArray(value)),
};
