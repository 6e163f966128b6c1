import type { ParseContext } from '../parse/context.js';
import { Malformed, type Parsing } from '../parse/input.js';
import { expect } from './expect.js';

const MOST_DEPTH = 100;
const MOST_WORD = 400;
const WORD_STOPS = /[^\w.+-]/g;
const NUMBER = /^[+-]?(\d[\d_]*\.?\d*|\.\d+)([eE][+-]?\d+)?$/;
const JSON_NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const WORDS: Readonly<Record<string, string>> = {
  ...{ True: 'true', true: 'true', False: 'false', false: 'false', None: 'null', null: 'null' },
};

/** Reads a Python literal, and gives it on as JSON. @throws Malformed, Unfinished */
export function* pythonValue(context: ParseContext, depth = 0): Parsing {
  const { input } = context;
  yield* input.skipBlanks();
  const first = yield* input.need();
  if (first === '"' || first === "'") {
    yield* pythonString(context);
    return;
  }
  if (first === '{') {
    yield* dict(context, depth);
    return;
  }
  if (first === '[' || first === '(') yield* list(context, depth);
  else yield* word(context);
}

function* list(context: ParseContext, depth: number): Parsing {
  const { input, answer } = context;
  const close = (yield* input.need()) === '[' ? ']' : ')';
  yield* items(context, { close, depth }, () => pythonValue(context, depth + 1), '[');
  answer.arguments(']');
}

function* dict(context: ParseContext, depth: number): Parsing {
  const { input, answer } = context;
  const entry = function* (): Parsing {
    const quote = yield* input.need();
    if (quote !== '"' && quote !== "'") throw new Malformed();
    yield* pythonString(context);
    yield* expect(context, ':');
    answer.arguments(': ');
    yield* pythonValue(context, depth + 1);
  };
  yield* items(context, { close: '}', depth }, entry, '{');
  answer.arguments('}');
}

function* items(
  { input, answer }: ParseContext,
  { close, depth }: { close: string; depth: number },
  read: () => Parsing,
  open: string,
): Parsing {
  if (depth >= MOST_DEPTH) throw new Malformed();
  input.skip();
  answer.arguments(open);
  for (let count = 0; ; count++) {
    yield* input.skipBlanks();
    if ((yield* input.need()) === close) {
      input.skip();
      return;
    }
    if (count > 0) answer.arguments(', ');
    yield* read();
    yield* input.skipBlanks();
    const next = yield* input.need();
    if (next !== ',' && next !== close) throw new Malformed();
    if (next === ',') input.skip();
  }
}

function* word({ input, answer }: ParseContext): Parsing {
  const text = yield* input.runOf(WORD_STOPS, MOST_WORD);
  const known = Object.hasOwn(WORDS, text) ? WORDS[text] : numberText(text);
  if (known === undefined) throw new Malformed();
  answer.arguments(known);
}

function numberText(text: string): string | undefined {
  if (JSON_NUMBER.test(text)) return text;
  const value = NUMBER.test(text) ? Number(text.replaceAll('_', '')) : NaN;
  return Number.isFinite(value) ? String(value) : undefined;
}

const RUN_STOPS = { '"': /["\\\uDC00-\uDFFF]/gu, "'": /['\\\uDC00-\uDFFF]/gu };

const quoted = (text: string): string => JSON.stringify(text).slice(1, -1);

/** A text in quotes of either kind, once or thrice. */
function* pythonString({ input, answer, alphabet }: ParseContext): Parsing {
  const quote = (yield* input.need()) as '"' | "'";
  input.skip();
  let thrice = false;
  if (yield* input.accept(quote)) {
    thrice = yield* input.accept(quote);
    if (!thrice) {
      answer.arguments('""');
      return;
    }
  }
  answer.arguments('"');
  for (;;) {
    yield* input.need();
    const run = input.run(RUN_STOPS[quote]);
    if (run !== '') {
      answer.arguments(quoted(run));
      continue;
    }
    if (yield* input.accept(thrice ? quote.repeat(3) : quote)) {
      answer.arguments('"');
      return;
    }
    const unit = yield* input.need();
    input.skip();
    if (unit === '\\') yield* escape({ input, answer });
    else answer.arguments(quoted(alphabet.plain(unit, 'write')));
  }
}

const ESCAPES: Readonly<Record<string, string>> = {
  ...{ n: '\n', t: '\t', r: '\r', '\\': '\\', "'": "'", '"': '"', '\n': '' },
  ...{ a: '\u0007', b: '\b', f: '\f', v: '\v', '0': '\0' },
};
const DIGITS: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

function* escape({ input, answer }: Pick<ParseContext, 'input' | 'answer'>): Parsing {
  const kind = yield* input.need();
  input.skip();
  const count = Object.hasOwn(DIGITS, kind) ? DIGITS[kind]! : 0;
  if (count === 0) {
    // Python keeps what it doesn't know.
    const meant = Object.hasOwn(ESCAPES, kind) ? ESCAPES[kind]! : `\\${kind}`;
    answer.arguments(quoted(meant));
    return;
  }
  let digits = '';
  while (digits.length < count) {
    digits += yield* input.need();
    input.skip();
  }
  const code = /^[0-9a-fA-F]+$/.test(digits) ? parseInt(digits, 16) : NaN;
  if (!(code <= 0x10ffff)) throw new Malformed();
  // Halves of a pair come as JSON writes them, one after the other.
  const half = code >= 0xd800 && code <= 0xdfff;
  answer.arguments(half ? `\\u${digits}` : quoted(String.fromCodePoint(code)));
}
