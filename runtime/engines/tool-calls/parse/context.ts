import type { ToolFunction } from '../../../core/tools.js';
import type { Alphabet } from './alphabet.js';
import type { AnswerSink } from './answer.js';
import { type Input, Malformed, type Parsing, Unfinished } from './input.js';

/** What parsers of one answer work with. */
export interface ParseContext {
  input: Input;
  answer: AnswerSink;
  /** Functions of the request by their names. */
  tools: ReadonlyMap<string, ToolFunction>;
  alphabet: Alphabet;
  /** True within what the model thinks. */
  thinking: boolean;
  /** True once the text has ended because it became too long, not by itself. */
  cut: boolean;
}

/** Longest name of a function, and longest key of an argument. */
const MOST_NAME = 256;

/**
 * Reads a call. What turns out to be none, or to call what is not there, is content, as the model wrote it; what the text's length has
 * cut off is dropped.
 * @param start what was read of it already
 */
export function* attempt(context: ParseContext, start: string, read: () => Parsing): Parsing<boolean> {
  const { input, answer, alphabet } = context;
  input.record(start);
  try {
    yield* read();
    input.recorded();
    return true;
  } catch (error) {
    if (!(error instanceof Malformed || error instanceof Unfinished)) throw error;
    answer.abandon();
    if (error instanceof Malformed || !context.cut) answer.text(alphabet.plain(input.recorded()));
    return false;
  }
}

/** Reads the name of a function up to one of these markers. @throws Malformed for one that the request has not */
export function* nameUntil(
  { input, tools }: ParseContext,
  markers: readonly string[],
): Parsing<{ name: string; marker: string }> {
  const { text, marker } = yield* shortUntil(input, markers);
  return { name: knownName(tools, text.trim()), marker };
}

/** Some models write `functions.` before a name and the number of the call after it. */
export function knownName(tools: ParseContext['tools'], written: string): string {
  const bare = written.replace(/^functions\./, '').replace(/:\d{1,6}$/, '');
  const name = [written, bare].find((one) => tools.has(one));
  if (name === undefined) throw new Malformed();
  return name;
}

/** Reads a short text up to one of these markers. */
export function* shortUntil(
  input: Input,
  markers: readonly string[],
): Parsing<{ text: string; marker: string }> {
  let text = '';
  const marker = yield* input.until(markers, (more) => {
    text += more;
    if (text.length > MOST_NAME) throw new Malformed();
  });
  if (marker === undefined) throw new Unfinished();
  return { text, marker };
}
