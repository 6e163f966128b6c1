import { randomUUID } from 'node:crypto';
import { RunError } from '../core/errors.js';
import type { JsonScan, StringSpan } from './json-scan.js';
import { parseNumbers } from './python-numbers.js';
import type { YieldTurn } from './turns.js';

const PIECE = 2 ** 20;
/** Length of a truncated string. */
const CUT_LENGTH = 2 ** 16;
const BACKSLASH = 0x5c;

/** A long string that is not decoded yet. */
export interface LongText {
  /** Bytes in the JSON text; an upper bound of the number of characters. */
  length: number;
  /** Decodes it. @throws RunError 400 for invalid UTF-8 or JSON */
  pieces(): Iterable<string>;
}

export interface ParseOptions {
  pause: YieldTurn;
  /** Truncate long strings to save memory. */
  cut?: boolean;
  /** Replace long media by placeholders, and add the media here. */
  media?: Map<string, LongText>;
  /** Tell numbers apart as Python does, where chat templates see them. */
  pythonNumbers?: boolean | undefined;
}

/**
 * Parses a scanned JSON text. Long strings are replaced by short placeholders before parsing, decoded in pieces, and
 * inserted afterwards.
 * @throws RunError 400 for invalid UTF-8 or JSON
 */
export async function parseScanned(
  bytes: Buffer,
  { long }: JsonScan,
  { pause, cut = false, media, pythonNumbers }: ParseOptions,
): Promise<unknown> {
  if (long.length === 0) return parseShort(bytes, pythonNumbers);
  const mark = `${randomUUID()}-`;
  const value = parseShort(withMarks(bytes, long, mark), pythonNumbers);
  const kept = media ? mediaMarks(value, mark) : new Set();
  const texts = new Map<string, string>();
  for (const [i, span] of long.entries()) {
    const name = mark + String(i);
    const text = longText(bytes, span);
    if (kept.has(name)) media!.set(name, text);
    else texts.set(name, await textOf(text, { pause, cut }));
  }
  return withTexts(value, (name) => texts.get(name));
}

/** Where media stand: blocks of a kind have it under its name, too. */
const MEDIA_FIELDS = ['base64', 'image', 'audio', 'video'];

/** Placeholders at fields for media: by their names, at the top level, in `input`, or in blocks of messages. */
function mediaMarks(value: unknown, mark: string): Set<string> {
  const top = Object(value) as Record<string, unknown>;
  const input = Object(top['input']) as Record<string, unknown>;
  const blocks = [top['messages'], input, input['messages']].flatMap(blocksOf);
  const holders = [top, input, ...blocks];
  const places = [top['input'], ...holders.flatMap((one) => MEDIA_FIELDS.map((name) => one[name]))];
  return new Set(places.filter((place) => typeof place === 'string' && place.startsWith(mark)) as string[]);
}

/** Blocks of what may be messages; a single one may stand for an array of them. */
function blocksOf(messages: unknown): Record<string, unknown>[] {
  if (!Array.isArray(messages)) return [];
  return messages
    .flatMap((message) => (Object(message) as Record<string, unknown>)['content'])
    .map((block) => Object(block) as Record<string, unknown>);
}

/** Parses at once; skips a byte order mark. @throws RunError 400 for invalid UTF-8 or JSON */
export function parseShort(bytes: Buffer, pythonNumbers = false): unknown {
  return withJsonError(() => {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return pythonNumbers ? parseNumbers(text) : JSON.parse(text);
  });
}

/** Replaces the parser's error, which quotes the text. */
function withJsonError<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof RunError) throw error;
    throw new RunError('invalid_input', 'the body is not valid JSON in UTF-8');
  }
}

/** The text with a placeholder for each long string. Callers can't guess the random mark. */
function withMarks(bytes: Buffer, long: readonly StringSpan[], mark: string): Buffer {
  let from = 0;
  const parts = long.flatMap(({ start, end }, i) => {
    const before = bytes.subarray(from, start);
    from = end + 1;
    return [before, Buffer.from(`"${mark}${i}"`)];
  });
  return Buffer.concat([...parts, bytes.subarray(from)]);
}

function longText(bytes: Buffer, { start, end }: StringSpan): LongText {
  return {
    length: end - start - 1,
    *pieces() {
      const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
      for (let from = start + 1; from < end;) {
        const to = from + PIECE < end ? cutBefore(bytes, from, from + PIECE) : end;
        yield withJsonError(() => JSON.parse(`"${decoder.decode(bytes.subarray(from, to))}"`) as string);
        from = to;
      }
    },
  };
}

async function textOf(text: LongText, { pause, cut }: { pause: YieldTurn; cut: boolean }): Promise<string> {
  const pieces: string[] = [];
  for (const piece of text.pieces()) {
    if (!cut) pieces.push(piece);
    else if (pieces.length === 0) pieces.push(piece.slice(0, CUT_LENGTH));
    await pause();
  }
  return pieces.join('');
}

/** The last offset before `to` that splits neither a character nor an escape. */
function cutBefore(bytes: Buffer, from: number, to: number): number {
  let cut = to;
  while ((bytes[cut]! & 0xc0) === 0x80) cut--;
  // An escape has at most six bytes (`\u` and four digits), so earlier ones have ended.
  for (let at = cut - 1; at >= cut - 5; at--) {
    if (bytes[at] !== BACKSLASH) continue;
    let first = at;
    while (first > from && bytes[first - 1] === BACKSLASH) first--;
    const isEscape = (at - first) % 2 === 0;
    const length = bytes[at + 1] === 0x75 ? 6 : 2;
    return isEscape && at + length > cut ? at : cut;
  }
  return cut;
}

/** Replaces placeholders by their texts; the number of values is limited. */
function withTexts(value: unknown, textOf: (mark: string) => string | undefined): unknown {
  if (typeof value === 'string') return textOf(value) ?? value;
  if (typeof value !== 'object' || value === null) return value;
  const container = value as Record<string, unknown>;
  for (const key of Object.keys(container)) {
    const found = container[key];
    const text = typeof found === 'string' ? textOf(found) : undefined;
    if (text !== undefined) container[key] = text;
    else withTexts(found, textOf);
  }
  return value;
}
