import type { Alphabet } from './alphabet.js';
import { END, type Input, Malformed, type Parsing } from './input.js';

/** Deepest nesting. */
const MOST_DEPTH = 100;
/** Longest number; longer ones are no arguments. */
const MOST_NUMBER = 400;

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
/** Quotes, backslashes, control characters, and units of pairs: all but what else there is. */
const STRING_STOPS = /[^ !#-[\]-\uD7FF\uE000-\uFFFF]/g;
const WORD_STOPS = /[^\w.+-]/g;

/** Reads JSON, and gives on what it read as the model wrote it. */
export interface JsonReader {
  input: Input;
  alphabet: Alphabet;
  use(text: string): void;
}

/**
 * One value. Characters that JSON forbids in texts are escaped, special tokens in them stand as they are written.
 * @throws Malformed, Unfinished
 */
export function* readValue(reader: JsonReader, depth = 0): Parsing {
  yield* blanks(reader);
  const first = yield* reader.input.need();
  if (first === '"') yield* readString(reader);
  else if (first === '{') yield* readItems(reader, '}', depth);
  else if (first === '[') yield* readItems(reader, ']', depth);
  else yield* readWord(reader);
}

function* readItems(reader: JsonReader, close: '}' | ']', depth: number): Parsing {
  if (depth >= MOST_DEPTH) throw new Malformed();
  yield* one(reader);
  yield* blanks(reader);
  if ((yield* reader.input.need()) === close) {
    yield* one(reader);
    return;
  }
  for (;;) {
    if (close === '}') yield* readKey(reader);
    yield* readValue(reader, depth + 1);
    yield* blanks(reader);
    const next = yield* reader.input.need();
    if (next !== ',' && next !== close) throw new Malformed();
    yield* one(reader);
    if (next === close) return;
  }
}

function* readKey(reader: JsonReader): Parsing {
  yield* blanks(reader);
  if ((yield* reader.input.need()) !== '"') throw new Malformed();
  yield* readString(reader);
  yield* blanks(reader);
  if ((yield* reader.input.need()) !== ':') throw new Malformed();
  yield* one(reader);
}

/** A text with its quotes. */
export function* readString(reader: JsonReader): Parsing {
  const { input, alphabet, use } = reader;
  yield* one(reader);
  for (;;) {
    yield* input.need();
    const plain = input.run(STRING_STOPS);
    if (plain !== '') {
      use(plain);
      continue;
    }
    const unit = yield* input.need();
    input.skip();
    if (unit === '"') {
      use(unit);
      return;
    }
    if (unit === '\\') yield* readEscape(reader);
    else if (unit < ' ') use(escaped(unit));
    // The other half of a pair has come with it.
    else if (unit < '\uDC00') use(unit + (yield* half(input)));
    else use(escaped(alphabet.plain(unit, 'write')));
  }
}

function* half(input: Input): Parsing<string> {
  const unit = yield* input.need();
  input.skip();
  return unit;
}

const escaped = (text: string): string => JSON.stringify(text).slice(1, -1);

function* readEscape({ input, use }: JsonReader): Parsing {
  const escape = yield* input.need();
  if (!'"\\/bfnrtu'.includes(escape)) throw new Malformed();
  input.skip();
  let text = `\\${escape}`;
  const digits = escape === 'u' ? 4 : 0;
  for (let i = 0; i < digits; i++) {
    const digit = yield* input.need();
    if (!/[0-9a-fA-F]/.test(digit)) throw new Malformed();
    input.skip();
    text += digit;
  }
  use(text);
}

/** A number, true, false or null. */
function* readWord({ input, use }: JsonReader): Parsing {
  const word = yield* input.runOf(WORD_STOPS, MOST_NUMBER);
  if (word !== 'true' && word !== 'false' && word !== 'null' && !NUMBER.test(word)) throw new Malformed();
  use(word);
}

function* one({ input, use }: JsonReader): Parsing {
  const unit = yield* input.need();
  input.skip();
  use(unit);
}

const BLANK_STOPS = /[^ \t\r\n]/g;

function* blanks({ input, use }: JsonReader): Parsing {
  while ((yield* input.peek()) !== END) {
    const found = input.run(BLANK_STOPS);
    if (found === '') return;
    use(found);
  }
}
