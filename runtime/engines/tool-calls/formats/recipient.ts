import { attempt, nameUntil, type ParseContext } from '../parse/context.js';
import { END, type Parsing } from '../parse/input.js';
import { jsonArguments } from './json-calls.js';

/**
 * Functionary 3.2: `>>>name` and a line break before the arguments, `>>>all` before text. The prompt has the first `>>>`.
 * @param hasTextFormat true: what is text has no marker in it
 */
export function* recipientAnswer(context: ParseContext, start: string, hasTextFormat: boolean): Parsing {
  const { input, answer, alphabet } = context;
  const marker = alphabet.marker(start);
  let before = '';
  while ((yield* input.peek()) !== END && !answer.full) {
    const text = yield* input.accept('all\n');
    if (!text) {
      yield* attempt(context, before, function* () {
        const { name } = yield* nameUntil(context, ['\n']);
        answer.open(name);
        yield* jsonArguments(context);
        answer.close();
      });
    }
    if (answer.full) return;
    const markers = text && hasTextFormat ? [] : [marker];
    if ((yield* input.until(markers, (text) => answer.text(alphabet.plain(text)))) === undefined) return;
    before = marker;
  }
}
