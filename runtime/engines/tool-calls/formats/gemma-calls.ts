import { attempt, nameUntil, type ParseContext, shortUntil } from '../parse/context.js';
import { Malformed, type Parsing, Unfinished } from '../parse/input.js';
import { castValue } from './cast.js';
import type { GemmaFormat } from './format.js';

const MOST_DEPTH = 100;
const MOST_WORD = 400;
const WORD_STOPS = /[,}\]]/g;

/** `call:NAME{key:value,…}` after a start marker. */
export function* gemmaCall(context: ParseContext, start: string, format: GemmaFormat): Parsing {
  const { input, answer, alphabet } = context;
  const quote = alphabet.marker(format.quote);
  const called = yield* attempt(context, start, function* () {
    yield* input.skipBlanks();
    if (!(yield* input.accept('call:'))) throw new Malformed();
    const { name } = yield* nameUntil(context, ['{']);
    answer.open(name);
    yield* entries(context, quote, 0);
    answer.close();
  });
  if (!called || answer.full) return;
  yield* input.skipBlanks();
  yield* input.acceptOneOf(format.ends.map(alphabet.marker));
}

/** `key:value,…}` behind the brace. */
function* entries(context: ParseContext, quote: string, depth: number): Parsing {
  const { input, answer } = context;
  const keys = new Set<string>();
  yield* items(context, '}', function* () {
    if (yield* input.accept(quote)) {
      yield* text(context, quote);
      yield* shortUntil(input, [':']);
    } else {
      const key = (yield* shortUntil(input, [':'])).text.trim();
      if (keys.has(key)) throw new Malformed();
      keys.add(key);
      answer.arguments(JSON.stringify(key));
    }
    answer.arguments(': ');
    yield* value(context, quote, depth + 1);
  });
}

function* items(context: ParseContext, close: '}' | ']', read: () => Parsing): Parsing {
  const { input, answer } = context;
  answer.arguments(close === '}' ? '{' : '[');
  for (let count = 0; ; count++) {
    yield* input.skipBlanks();
    if ((yield* input.need()) === close) break;
    if (count > 0) answer.arguments(', ');
    yield* read();
    yield* input.skipBlanks();
    const next = yield* input.need();
    if (next === ',') input.skip();
    else if (next !== close) throw new Malformed();
  }
  input.skip();
  answer.arguments(close);
}

function* value(context: ParseContext, quote: string, depth: number): Parsing {
  const { input, answer } = context;
  if (depth > MOST_DEPTH) throw new Malformed();
  yield* input.skipBlanks();
  if (yield* input.accept(quote)) {
    yield* text(context, quote);
    return;
  }
  const first = yield* input.need();
  if (first === '{' || first === '[') {
    input.skip();
    if (first === '{') {
      yield* entries(context, quote, depth);
      return;
    }
    yield* items(context, ']', () => value(context, quote, depth + 1));
    return;
  }
  let word = '';
  for (let more = ''; (yield* input.need()) && (more = input.run(WORD_STOPS)) !== '';) {
    word += more;
    if (word.length > MOST_WORD) throw new Malformed();
  }
  answer.arguments(castValue(context.alphabet.plain(word.trim()), WORD_TYPES));
}

const WORD_TYPES = ['number', 'null', 'boolean'];

function* text({ input, answer, alphabet }: ParseContext, quote: string): Parsing {
  answer.arguments('"');
  const end = yield* input.until([quote], (more) =>
    answer.arguments(JSON.stringify(alphabet.plain(more, 'write')).slice(1, -1)),
  );
  if (end === undefined) throw new Unfinished();
  answer.arguments('"');
}
