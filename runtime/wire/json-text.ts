import { randomUUID } from 'node:crypto';
import { RunError } from '../core/errors.js';
import type { JsonScan, StringSpan } from './json-scan.js';
import type { YieldTurn } from './turns.js';

const PIECE = 2 ** 20;
/** What is left of a string that is cut. */
const CUT = 2 ** 16;
const BACKSLASH = 0x5c;

/** A long string that has not been made of its bytes. */
export interface LongText {
  /** Of bytes, in the JSON text: as many characters at most. */
  length: number;
  /** @throws RunError 400 for what is no JSON in UTF-8 */
  pieces(): Iterable<string>;
}

export interface ParseOptions {
  pause: YieldTurn;
  /** Keeps the beginnings of long strings only: all of them is as much memory again. */
  cut?: boolean;
  /** Keeps a mark in place of a long medium, and puts the medium in here by its mark. */
  media?: Map<string, LongText>;
}

/**
 * The value of a JSON text that has been scanned. Long strings are read piece by piece and put where they belong; what
 * is left is short.
 * @throws RunError 400 for what is no JSON in UTF-8
 */
export async function parseScanned(
  bytes: Buffer,
  { long }: JsonScan,
  { pause, cut = false, media }: ParseOptions,
): Promise<unknown> {
  if (long.length === 0) return parseShort(bytes);
  const mark = `${randomUUID()}-`;
  const value = parseShort(withMarks(bytes, long, mark));
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

/** Marks where a task takes a medium: under its names, at the top or one step below (`input`). */
function mediaMarks(value: unknown, mark: string): Set<string> {
  const top = Object(value) as Record<string, unknown>;
  const input = Object(top['input']) as Record<string, unknown>;
  const places = [top['base64'], top['image'], top['input'], input['base64'], input['image']];
  return new Set(places.filter((place) => typeof place === 'string' && place.startsWith(mark)) as string[]);
}

/** In one piece. A byte order mark at its start is none of the text. @throws RunError 400 for what is no JSON in UTF-8 */
export function parseShort(bytes: Buffer): unknown {
  return orNoJson(() => JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)));
}

/** What the parser says quotes the text. */
function orNoJson<T>(read: () => T): T {
  try {
    return read();
  } catch {
    throw new RunError('invalid_input', 'the body is not valid JSON in UTF-8');
  }
}

/** The text with a short string in place of each long one; nobody can know the mark. */
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
        yield orNoJson(() => JSON.parse(`"${decoder.decode(bytes.subarray(from, to))}"`) as string);
        from = to;
      }
    },
  };
}

async function textOf(text: LongText, { pause, cut }: { pause: YieldTurn; cut: boolean }): Promise<string> {
  const pieces: string[] = [];
  for (const piece of text.pieces()) {
    if (!cut) pieces.push(piece);
    else if (pieces.length === 0) pieces.push(piece.slice(0, CUT));
    await pause();
  }
  return pieces.join('');
}

/** The last place before `to` that is neither within a character nor within an escape. */
function cutBefore(bytes: Buffer, from: number, to: number): number {
  let cut = to;
  while ((bytes[cut]! & 0xc0) === 0x80) cut--;
  // An escape is six bytes at most, `\u` and four digits: one that begins earlier has ended.
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

/** Puts the texts in place of their marks; as many values as a body may have. */
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
