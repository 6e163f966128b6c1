import { randomUUID } from 'node:crypto';
import { types } from 'node:util';
import { RunError } from '../core/errors.js';

/*
 * Numbers as Python's json tells them apart, where a chat template may print them, as values that no JSON text can make: a
 * float without a fraction (1.0, 1e5, -0.0) is a Number object, an integer beyond 2^53 a bigint. Both survive the way to
 * the engine, and `stringifyNumbers` writes them.
 */

/** Fields whose values reach a chat template as they are. */
const PLACES = ['messages', 'tools', 'documents', 'chat_template_kwargs'];
/** Fields that have such fields. */
const HOLDERS = ['params', 'input'];

/** As many as Python turns into an integer. */
const MOST_DIGITS = 4300;

const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/g;
/** Has a number that may need it, in or outside of strings. */
const CANDIDATE = /\d[.eE]|\d{16}/;

/**
 * As JSON.parse, with Python's numbers where chat templates see them.
 * @throws SyntaxError, or RunError 400 for a number with more digits than Python takes
 */
export function parseNumbers(text: string): unknown {
  const plain: unknown = JSON.parse(text);
  if (!CANDIDATE.test(text)) return plain;
  const mark = `${randomUUID()}:`;
  const marked = text.replaceAll(STRING_OR_NUMBER, (token) =>
    token.startsWith('"') || !isSpecial(token) ? token : `"${mark}${token}"`,
  );
  graft(plain, JSON.parse(marked), (value) => withNumbers(value, mark));
  return plain;
}

/** Integers are special beyond 2^53, floats where they have no fraction. */
function isSpecial(token: string): boolean {
  const size = Number(token);
  return /[.eE]/.test(token) ? Number.isInteger(size) : !Number.isSafeInteger(size);
}

type Container = Record<string, unknown>;

const isContainer = (value: unknown): value is Container => typeof value === 'object' && value !== null;

function graft(plain: unknown, told: unknown, exact: (value: unknown) => unknown): void {
  if (!isContainer(plain) || !isContainer(told)) return;
  for (const name of PLACES) if (Object.hasOwn(plain, name)) plain[name] = exact(told[name]);
  for (const name of HOLDERS) {
    if (!Object.hasOwn(plain, name)) continue;
    // The shorthand for messages.
    if (Array.isArray(plain[name])) plain[name] = exact(told[name]);
    else graft(plain[name], told[name], exact);
  }
}

function withNumbers(value: unknown, mark: string): unknown {
  if (typeof value === 'string') return value.startsWith(mark) ? numberOf(value.slice(mark.length)) : value;
  if (!isContainer(value)) return value;
  for (const key of Object.keys(value)) value[key] = withNumbers(value[key], mark);
  return value;
}

function numberOf(token: string): unknown {
  if (/[.eE]/.test(token)) return Object(Number(token));
  if (token.replace('-', '').length > MOST_DIGITS)
    throw new RunError('invalid_input', `a number of the body has more than ${MOST_DIGITS} digits`);
  return BigInt(token);
}

/** As JSON.stringify for a value of `parseNumbers`. */
export function stringifyNumbers(value: unknown): string {
  const mark = `${randomUUID()}:`;
  let isMarked = false;
  const text = JSON.stringify(value, (_key, item: unknown) => {
    const numeral = numeralOf(item);
    if (numeral === undefined) return item;
    isMarked = true;
    return mark + numeral;
  });
  return isMarked ? text.replaceAll(new RegExp(`"${mark}([^"]*)"`, 'g'), '$1') : text;
}

function numeralOf(value: unknown): string | undefined {
  if (typeof value === 'bigint') return String(value);
  if (!types.isNumberObject(value)) return undefined;
  const size = Number(value);
  const text = Object.is(size, -0) ? '-0' : String(size);
  return text.includes('e') ? text : `${text}.0`;
}
