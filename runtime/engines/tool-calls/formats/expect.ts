import type { ParseContext } from '../parse/context.js';
import { Malformed, type Parsing } from '../parse/input.js';

/** Reads this character, after blanks. @throws Malformed where another one comes */
export function* expect({ input }: ParseContext, character: string): Parsing {
  yield* input.skipBlanks();
  if ((yield* input.need()) !== character) throw new Malformed();
  input.skip();
}
