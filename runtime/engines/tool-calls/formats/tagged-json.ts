import { attempt, nameUntil, type ParseContext, shortUntil } from '../parse/context.js';
import type { Parsing } from '../parse/input.js';
import type { TaggedJsonFormat } from './format.js';
import { jsonArguments } from './json-calls.js';

/** A call after a start marker: its name, then its arguments. */
export function* taggedJsonCall(context: ParseContext, start: string, format: TaggedJsonFormat): Parsing {
  const { input, answer, alphabet } = context;
  const nameEnds = format.nameEnds.map(alphabet.marker);
  const called = yield* attempt(context, start, function* () {
    const { name, marker } = yield* nameUntil(context, nameEnds);
    answer.open(name);
    // The model's own id of the call, which the last marker ends.
    if (marker !== nameEnds.at(-1)) yield* shortUntil(input, nameEnds.slice(-1));
    yield* jsonArguments(context);
    answer.close();
  });
  if (!called || answer.full) return;
  yield* input.skipBlanks();
  yield* input.acceptOneOf(format.ends.map(alphabet.marker));
}
