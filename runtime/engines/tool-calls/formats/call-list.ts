import { attempt, type ParseContext } from '../parse/context.js';
import type { Parsing } from '../parse/input.js';

/** How calls that follow each other are written. */
export interface CallList {
  /** Markers that may end them. */
  ends: readonly string[];
  /** Reads one call. @param list they stand in brackets */
  call(list: boolean, first: boolean): Parsing;
  /** Reads what stands between calls. @returns whether another one follows */
  another(list: boolean): Parsing<boolean>;
}

/** Calls after a start marker, or at the beginning of the content: in a list, or one after the other. */
export function* callList(context: ParseContext, start: string, { ends, call, another }: CallList): Parsing {
  const { input, answer, alphabet } = context;
  let before = start;
  let list = false;
  for (let first = true; ; first = false) {
    const called = yield* attempt(context, before, function* () {
      yield* input.skipBlanks();
      if (first && (yield* input.need()) === '[') {
        input.skip();
        list = true;
      }
      yield* call(list, first);
    });
    if (!called || answer.full) return;
    before = '';
    if (!(yield* another(list))) break;
  }
  yield* input.skipBlanks();
  yield* input.acceptOneOf(ends.map(alphabet.marker));
}
