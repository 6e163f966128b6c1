import { knownName, type ParseContext } from '../parse/context.js';
import { END, Malformed, type Parsing } from '../parse/input.js';
import type { PythonicFormat } from './format.js';
import { callList } from './call-list.js';
import { expect } from './expect.js';
import { pythonValue } from './python-literal.js';

const NAME_STOPS = /[^\w.-]/g;
const MOST_NAME = 256;

/** Calls after a start marker, or at the beginning of the content: in a list, or one in each line. */
export function* pythonicCalls(context: ParseContext, start: string, format: PythonicFormat): Parsing {
  yield* callList(context, start, {
    ends: format.ends,
    *call(list, first) {
      if (first && !list && start === '') throw new Malformed();
      yield* pythonCall(context);
    },
    another: (list) => anotherPythonCall(context, list),
  });
}

export const NAME_START = /[A-Za-z_]/;

/** Reads what stands between calls. @returns whether another one follows */
export function* anotherPythonCall({ input }: ParseContext, list: boolean): Parsing<boolean> {
  yield* input.skipBlanks();
  const unit = yield* input.peek();
  if (unit === END) return false;
  const character = String.fromCharCode(unit);
  if (!list) return NAME_START.test(character);
  if (character === ',' || character === ']') input.skip();
  return character === ',';
}

/** `name(key=value, …)`; `name.call(…)` calls name. */
export function* pythonCall(context: ParseContext): Parsing {
  const { input, answer, tools } = context;
  const written = yield* identifier(context);
  yield* expect(context, '(');
  const direct = written.replace(/\.call$/, '');
  answer.open(knownName(tools, tools.has(written) ? written : direct));
  answer.arguments('{');
  const keys = new Set<string>();
  for (;;) {
    yield* input.skipBlanks();
    if ((yield* input.need()) === ')') break;
    const key = yield* identifier(context);
    if (keys.has(key)) throw new Malformed();
    yield* expect(context, '=');
    answer.arguments(`${keys.size > 0 ? ', ' : ''}${JSON.stringify(key)}: `);
    keys.add(key);
    yield* pythonValue(context);
    yield* input.skipBlanks();
    const next = yield* input.need();
    if (next === ',') input.skip();
    else if (next !== ')') throw new Malformed();
  }
  input.skip();
  answer.arguments('}');
  answer.close();
}

function* identifier({ input }: ParseContext): Parsing<string> {
  yield* input.skipBlanks();
  const name = yield* input.runOf(NAME_STOPS, MOST_NAME);
  if (name === '' && (yield* input.need())) throw new Malformed();
  return name;
}
