import { RunError } from '../core/errors.js';
import { DEFAULTS } from '../core/limits.js';
import type { YieldTurn } from './turns.js';

/** A string in a JSON text, by the offsets of its two quotes. */
export interface StringSpan {
  start: number;
  end: number;
}

/** Result of scanning a JSON text before it is parsed. */
export interface JsonScan {
  /** Upper bound of the number of arrays, objects and their items. */
  values: number;
  /** Strings of LONG_BYTES and more, in order. */
  long: StringSpan[];
  /** Bytes outside of those strings. */
  rest: number;
}

export interface ScanLimits {
  /** Arrays, objects and what is in them (MAX_BODY_VALUES). */
  maxValues: number;
}

/** Longer strings, such as images in Base64, are decoded in pieces to keep the event loop free. */
const LONG_BYTES = 2 ** 16;

/** Most bytes outside of long strings, which are parsed at once. */
const MAX_REST_BYTES = DEFAULTS.maxBatchBodyBytes;

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];
const SPACE = 0x20;

/** Steps between two checks of the clock. */
const STEPS = 2 ** 13;

/**
 * Counts the values of a JSON text in one pass without allocations: a kilobyte may hold five hundred objects, and a hundred
 * kilobytes may be nested a hundred thousand deep. Does not check the syntax; the parser does.
 * @throws RunError 400 or 413 that names the limit
 */
export async function scanJson(
  bytes: Buffer,
  { maxValues }: ScanLimits,
  pause: YieldTurn,
): Promise<JsonScan> {
  const long: StringSpan[] = [];
  let [depth, values, rest] = [0, 1, bytes.length];
  let afterLong = false;
  for (let at = 0, steps = 0; at < bytes.length; at++) {
    if (++steps % STEPS === 0) await pause();
    const byte = bytes[at]!;
    if (byte <= SPACE) continue;
    if (byte === COLON && afterLong) throw tooLongName();
    afterLong = false;
    if (byte === QUOTE) {
      const end = await endOfString(bytes, at + 1, pause);
      if (end - at > LONG_BYTES) {
        long.push({ start: at, end });
        rest -= end - at;
        afterLong = true;
      }
      at = end;
    } else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
      if (++depth > DEFAULTS.maxBodyDepth) throw tooDeep();
      values++;
    } else if (byte === COMMA) values++;
    else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) depth--;
    if (values > maxValues) throw tooMany(maxValues);
  }
  if (rest > MAX_REST_BYTES) throw tooMuch();
  return { values, long, rest };
}

/** Offset of the quote that ends a string, or the end of the text. */
async function endOfString(bytes: Buffer, from: number, pause: YieldTurn): Promise<number> {
  let at = from;
  for (;;) {
    const quote = bytes.indexOf(QUOTE, at);
    if (quote < 0) return bytes.length;
    let before = quote;
    while (before > at && bytes[before - 1] === BACKSLASH)
      if ((quote - --before) % STEPS === 0) await pause();
    if ((quote - before) % 2 === 0) return quote;
    // After an escaped quote there may be millions more; then checking bytes is cheaper than searching.
    const until = Math.min(bytes.length, quote + 1 + STEPS);
    for (at = quote + 1; at < until && bytes[at] !== QUOTE; at++) if (bytes[at] === BACKSLASH) at++;
    if (bytes[at] === QUOTE && at < until) return at;
    await pause();
  }
}

function tooDeep(): RunError {
  return new RunError(
    'invalid_input',
    `the body has more than ${DEFAULTS.maxBodyDepth} levels of arrays and objects`,
  );
}

function tooMany(most: number): RunError {
  const message = `the body has more than ${most} arrays, objects and values in them (MAX_BODY_VALUES)`;
  return new RunError('payload_too_large', message);
}

function tooMuch(): RunError {
  const message = `the body has more than ${MAX_REST_BYTES} bytes beside its strings of ${LONG_BYTES} bytes and more`;
  return new RunError('payload_too_large', message);
}

function tooLongName(): RunError {
  return new RunError('invalid_input', `a name in the body is longer than ${LONG_BYTES} bytes`);
}
