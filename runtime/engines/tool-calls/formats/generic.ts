import { wellFormed } from '../parse/alphabet.js';
import { attempt, type ParseContext } from '../parse/context.js';
import { Malformed, type Parsing } from '../parse/input.js';
import { readString, readValue } from '../parse/json.js';
import { expect } from './expect.js';
import { jsonCall, textIn } from './json-calls.js';

const KEYS = { name: 'name', arguments: 'arguments' };

/**
 * Models whose templates know no tools are asked for `{"tool_call": {…}}`, `{"tool_calls": […]}` or `{"response": "…"}`.
 * @param asJson true: the response is JSON of the caller's format, which is the content
 */
export function* genericAnswer(context: ParseContext, asJson: boolean): Parsing {
  const { input } = context;
  const read = yield* attempt(context, '', function* () {
    yield* expect(context, '{');
    const key = yield* textIn(context);
    yield* expect(context, ':');
    if (key === 'tool_call') yield* jsonCall(context, KEYS);
    else if (key === 'tool_calls') yield* calls(context);
    else if (key === 'response') yield* asJson ? jsonResponse(context) : response(context);
    else throw new Malformed();
  });
  if (!read || context.answer.full) return;
  yield* input.skipBlanks();
  yield* input.accept('}');
}

function* calls(context: ParseContext): Parsing {
  const { input, answer } = context;
  yield* expect(context, '[');
  for (;;) {
    yield* jsonCall(context, KEYS);
    input.record();
    if (answer.full) return;
    yield* input.skipBlanks();
    const next = yield* input.need();
    if (next !== ',' && next !== ']') throw new Malformed();
    input.skip();
    if (next === ']') return;
  }
}

/** Half of a pair as JSON escapes it, whose other half is to come. */
const OPEN_PAIR = /^\\u[dD][89abAB]/;

/** JSON as it comes. */
function* jsonResponse({ input, answer, alphabet }: ParseContext): Parsing {
  yield* input.skipBlanks();
  yield* input.need();
  yield* readValue({
    ...{ input, alphabet },
    use(text) {
      answer.text(text);
      // What is told already must not come again where the text breaks off.
      input.record();
    },
  });
}

/** The text of the answer, as it comes. */
function* response({ input, answer, alphabet }: ParseContext): Parsing {
  yield* input.skipBlanks();
  if ((yield* input.need()) !== '"') throw new Malformed();
  input.record();
  let held = '';
  yield* readString({
    input,
    alphabet,
    use(piece) {
      if (piece === '"') return;
      const written = held + piece;
      held = held === '' && OPEN_PAIR.test(piece) ? piece : '';
      if (held === '') answer.text(wellFormed(String(JSON.parse(`"${written}"`))));
      // What is told already must not come again where the text breaks off.
      input.record();
    },
  });
}
