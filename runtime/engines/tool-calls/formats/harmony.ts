import { attempt, knownName, type ParseContext, shortUntil } from '../parse/context.js';
import { END, type Parsing } from '../parse/input.js';
import { jsonArguments } from './json-calls.js';

const ENDS = ['<|end|>', '<|return|>', '<|call|>', '<|start|>'];
const CHANNEL = /<\|channel\|>\s*(\w+)/;
const RECIPIENT = /\bto=([\w.:-]+)/;

/**
 * gpt-oss: messages in channels. `analysis` is reasoning, a message to a function is a call, the rest is content.
 * https://cookbook.openai.com/articles/openai-harmony
 */
export function* harmonyAnswer(context: ParseContext): Parsing {
  while ((yield* context.input.peek()) !== END && !context.answer.full) yield* message(context);
}

function* message(context: ParseContext): Parsing {
  const { input, answer, tools, alphabet } = context;
  let written = '';
  const headed = yield* attempt(context, '', function* () {
    written = (yield* shortUntil(input, [alphabet.marker('<|message|>')])).text;
  });
  if (!headed) return;
  const header = alphabet.plain(written, 'write');
  const channel = CHANNEL.exec(header)?.[1];
  const recipient = RECIPIENT.exec(header)?.[1];
  const ends = ENDS.map(alphabet.marker);
  if (recipient !== undefined) {
    const called = yield* attempt(context, written, function* () {
      answer.open(knownName(tools, recipient));
      yield* jsonArguments(context);
      answer.close();
    });
    if (called) {
      yield* input.until(ends, () => {});
      return;
    }
  }
  const thought = channel === 'analysis';
  // A line between what it thinks at one time and at another.
  if (thought) answer.think('\n');
  context.thinking = thought;
  yield* input.until(ends, (text) => answer[thought ? 'think' : 'text'](alphabet.plain(text)));
  context.thinking = false;
}
