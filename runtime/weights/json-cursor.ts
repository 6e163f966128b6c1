import { isUtf8 } from 'node:buffer';

export type JsonProblem = 'header-json' | 'header-number' | 'duplicate-name';

/** What is wrong with a JSON text; whoever reads a file makes a WeightsError of it. */
export class JsonRefusal extends Error {
  override name = 'JsonRefusal';

  constructor(
    readonly problem: JsonProblem,
    what: string,
  ) {
    super(what);
  }
}

const [QUOTE, BACKSLASH, COMMA, COLON, SPACE] = [0x22, 0x5c, 0x2c, 0x3a, 0x20];
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];
const [TAB, NEWLINE, RETURN] = [0x09, 0x0a, 0x0d];

/** Characters of numbers and of true, false, null. */
const LITERAL = /[-+.0-9A-Za-z]/;
const INTEGER = /^(?:0|[1-9]\d*)$/;
const ANY_LITERAL = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?)$/;
const LONE_SURROGATE = /\p{Surrogate}/u;
const MAX_LITERAL_BYTES = 64;
const MAX_STRING_BYTES = 16 * 2 ** 20;
/** Depth and number of values that nobody reads. */
const MAX_DEPTH = 64;
const MAX_SKIPPED = 100_000;

/**
 * Reads a JSON text value by value, so that a long one need not become one object at once, and repeated names and numbers
 * that are no integers do not go unnoticed, as with JSON.parse. Strict: RFC 8259, well-formed strings, names once.
 * Every method throws JsonRefusal.
 */
export class JsonCursor {
  private at = 0;
  private skipped = 0;

  constructor(private readonly bytes: Buffer) {
    if (!isUtf8(bytes)) throw new JsonRefusal('header-json', 'is not UTF-8');
  }

  /** The names of an object; its caller reads or skips each value before the next name. */
  *members(): Generator<string> {
    const seen = new Set<string>();
    this.take(OPEN_OBJECT, 'object');
    if (this.takeIf(CLOSE_OBJECT)) return;
    do {
      const name = this.string();
      if (seen.has(name)) throw new JsonRefusal('duplicate-name', `names ${JSON.stringify(name)} twice`);
      seen.add(name);
      this.take(COLON, 'colon');
      yield name;
    } while (this.takeIf(COMMA));
    this.take(CLOSE_OBJECT, 'end of an object');
  }

  /** The items of an array; yields its length so far, and its caller reads or skips each item. */
  *items(): Generator<number> {
    this.take(OPEN_ARRAY, 'array');
    if (this.takeIf(CLOSE_ARRAY)) return;
    let count = 0;
    do yield count++;
    while (this.takeIf(COMMA));
    this.take(CLOSE_ARRAY, 'end of an array');
  }

  string(): string {
    this.take(QUOTE, 'string');
    const start = this.at - 1;
    const end = this.endOfString();
    if (end - start > MAX_STRING_BYTES) throw this.refusal('a string is too long');
    const text = parsedString(this.bytes.toString('utf8', start, end));
    if (text === undefined || LONE_SURROGATE.test(text)) throw this.refusal('a broken string');
    return text;
  }

  /** A non-negative integer up to 2^53, written as one. @param what for the message */
  integer(what: string): number {
    this.skipSpace();
    const text = this.literal();
    const value = INTEGER.test(text) ? Number(text) : NaN;
    if (Number.isSafeInteger(value)) return value;
    const kind = text.startsWith('-') ? 'a negative number' : 'no integer below 2^53';
    const shown = text === '' ? 'something else' : text;
    throw new JsonRefusal('header-number', `has ${shown} as ${what}, which is ${kind}`);
  }

  /** Any value; a limited number of them. */
  skip(depth = 0): void {
    if (depth > MAX_DEPTH) throw this.refusal('values nested too deep');
    if (++this.skipped > MAX_SKIPPED) throw this.refusal('too many values that belong to no tensor');
    this.skipSpace();
    const byte = this.bytes[this.at];
    if (byte === QUOTE) this.string();
    else if (byte === OPEN_OBJECT) for (const _ of this.members()) this.skip(depth + 1);
    else if (byte === OPEN_ARRAY) for (const _ of this.items()) this.skip(depth + 1);
    else if (!ANY_LITERAL.test(this.literal())) throw this.refusal('no value');
  }

  null(): void {
    this.skipSpace();
    if (this.literal() !== 'null') throw this.refusal('neither an object nor null');
  }

  /** Whether the next value is a string. */
  atString(): boolean {
    this.skipSpace();
    return this.bytes[this.at] === QUOTE;
  }

  /** Whether the next value is an object. */
  atObject(): boolean {
    this.skipSpace();
    return this.bytes[this.at] === OPEN_OBJECT;
  }

  /** Only white space may follow. */
  end(): void {
    this.skipSpace();
    if (this.at < this.bytes.length) throw this.refusal('more than one value');
  }

  private literal(): string {
    const start = this.at;
    const limit = Math.min(this.bytes.length, start + MAX_LITERAL_BYTES);
    while (this.at < limit && LITERAL.test(String.fromCharCode(this.bytes[this.at]!))) this.at++;
    return this.bytes.toString('latin1', start, this.at);
  }

  /** Offset behind the closing quote. */
  private endOfString(): number {
    for (let from = this.at; ;) {
      const quote = this.bytes.indexOf(QUOTE, from);
      if (quote < 0) throw this.refusal('a string without an end');
      let backslashes = 0;
      while (this.bytes[quote - 1 - backslashes] === BACKSLASH) backslashes++;
      if (backslashes % 2 === 0) return (this.at = quote + 1);
      from = quote + 1;
    }
  }

  private take(byte: number, what: string): void {
    if (!this.takeIf(byte)) throw this.refusal(`no ${what}`);
  }

  private takeIf(byte: number): boolean {
    this.skipSpace();
    if (this.bytes[this.at] !== byte) return false;
    this.at++;
    return true;
  }

  private skipSpace(): void {
    for (; ; this.at++) {
      const byte = this.bytes[this.at];
      if (byte !== SPACE && byte !== NEWLINE && byte !== TAB && byte !== RETURN) return;
    }
  }

  private refusal(what: string): JsonRefusal {
    return new JsonRefusal('header-json', `is not valid JSON: ${what} at byte ${this.at}`);
  }
}

function parsedString(text: string): string | undefined {
  try {
    return JSON.parse(text) as string;
  } catch {
    return undefined;
  }
}
