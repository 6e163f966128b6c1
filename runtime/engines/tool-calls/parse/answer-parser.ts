import type { Delta } from '../../../core/delta.js';
import type { ToolFunction } from '../../../core/tools.js';
import { gemmaCall } from '../formats/gemma-calls.js';
import { genericAnswer } from '../formats/generic.js';
import type { ReasoningFormat, ToolFormat } from '../formats/format.js';
import { harmonyAnswer } from '../formats/harmony.js';
import { jsonCalls } from '../formats/json-calls.js';
import { pythonicCalls } from '../formats/pythonic-calls.js';
import { recipientAnswer } from '../formats/recipient.js';
import { taggedArgumentsCall } from '../formats/tagged-arguments.js';
import { taggedJsonCall } from '../formats/tagged-json.js';
import type { Alphabet } from './alphabet.js';
import { Answer, type AnswerOptions, type AnswerParts } from './answer.js';
import type { ParseContext } from './context.js';
import { END, Input, type Parsing } from './input.js';

export interface AnswerParserOptions extends AnswerOptions {
  /** Undefined: no calls are looked for. */
  format: ToolFormat | undefined;
  reasoning: ReasoningFormat | undefined;
  /** True: the prompt ends within what the model thinks. */
  thinking: boolean;
  tools: ReadonlyMap<string, ToolFunction>;
  alphabet: Alphabet;
  /** True: content follows a format; then an answer is content or calls, and no markers are looked for in content. */
  hasTextFormat?: boolean;
}

/** Reads an answer as it is written. However it is cut into pieces, the same comes of it. */
export interface AnswerParser {
  /** Takes more text, in which special tokens are units of the alphabet. */
  push(text: string): Delta[];
  /** @param cut whether it became too long, so that what it began may be unfinished */
  finish(cut: boolean): { deltas: Delta[]; parts: AnswerParts };
  /** True once nothing that comes would count. */
  readonly ended: boolean;
  /** True within what the model thinks. */
  readonly thinking: boolean;
}

export function createAnswerParser(options: AnswerParserOptions): AnswerParser {
  const input = new Input();
  const answer = new Answer(options);
  const { tools, alphabet } = options;
  const context: ParseContext = { input, answer, tools, alphabet, cut: false, thinking: options.thinking };
  const parsing = parse(context, options);
  let ended = parsing.next().done === true;
  const go = () => {
    if (!ended) ended = parsing.next().done === true;
  };
  return {
    get ended() {
      return ended;
    },
    get thinking() {
      return context.thinking;
    },
    push(text) {
      input.feed(text);
      go();
      return answer.take();
    },
    finish(cut) {
      context.cut = cut;
      input.end();
      go();
      const parts = answer.finish();
      return { deltas: answer.take(), parts };
    },
  };
}

function* parse(context: ParseContext, options: AnswerParserOptions): Parsing {
  const { format, reasoning, hasTextFormat = false } = options;
  if (format?.kind === 'harmony') {
    yield* harmonyAnswer(context);
    return;
  }
  if (reasoning) yield* reasoningFirst(context, reasoning);
  if (format?.kind === 'recipient') {
    yield* recipientAnswer(context, format.start, hasTextFormat);
    return;
  }
  if (format?.kind === 'generic') yield* genericAnswer(context, hasTextFormat);
  if (hasTextFormat) yield* callsOrContent(context, format);
  else yield* content(context, options);
}

/** What the model thinks before it answers. */
function* reasoningFirst(context: ParseContext, { start, end }: ReasoningFormat): Parsing {
  const { input, answer, alphabet } = context;
  if (!context.thinking) {
    input.record();
    yield* input.skipBlanks();
    if (!(yield* input.accept(alphabet.marker(start)))) {
      answer.text(input.recorded());
      return;
    }
  }
  yield* think(context, end);
}

function* think(context: ParseContext, end: string): Parsing {
  const { input, answer, alphabet } = context;
  context.thinking = true;
  yield* input.until([alphabet.marker(end)], (text) => answer.think(alphabet.plain(text)));
  context.thinking = false;
}

/** Content with calls in it. */
function* content(context: ParseContext, { format, reasoning }: AnswerParserOptions): Parsing {
  const { input, answer, alphabet } = context;
  const starts = format && 'starts' in format ? format.starts.map(alphabet.marker) : [];
  const drops = (format?.drops ?? []).map(alphabet.marker);
  // Where it is a token it can't be meant as text.
  const thought = [reasoning?.start ?? ''].map(alphabet.marker).filter((marker) => isToken(marker));
  if (format && 'bare' in format && format.bare) yield* bareCalls(context, format);
  while (!answer.full) {
    const marker = yield* input.until([...starts, ...drops, ...thought], (text) =>
      answer.text(alphabet.plain(text)),
    );
    if (marker === undefined) return;
    if (thought.includes(marker)) yield* think(context, reasoning!.end);
    else if (starts.includes(marker)) yield* calls(context, marker, format!);
  }
}

/** An answer that begins with a call has calls only; any other is content as a whole. */
function* callsOrContent(context: ParseContext, format: ToolFormat | undefined): Parsing {
  const { input, answer, alphabet } = context;
  const starts = format && 'starts' in format ? format.starts.map(alphabet.marker) : [];
  const drops = (format?.drops ?? []).map(alphabet.marker);
  for (;;) {
    input.record();
    yield* input.skipBlanks();
    const blanks = input.recorded();
    const marker = yield* input.acceptOneOf([...starts, ...drops]);
    if (marker === undefined) {
      answer.text(blanks);
      break;
    }
    if (starts.includes(marker)) yield* calls(context, marker, format!);
    if (answer.full) return;
  }
  yield* input.until([], (text) => answer.text(alphabet.plain(text)));
}

const isToken = (marker: string): boolean => marker.length === 1 && /[\uDC00-\uDFFF]/.test(marker);

/** A call that no marker announces, at the beginning of the content. */
function* bareCalls(context: ParseContext, format: ToolFormat): Parsing {
  const { input, answer } = context;
  input.record();
  yield* input.skipBlanks();
  const blanks = input.recorded();
  const first = yield* input.peek();
  const opens = format.kind === 'json' ? '{[' : '[';
  if (blanks !== '') answer.text(blanks);
  if (first !== END && opens.includes(String.fromCharCode(first))) yield* calls(context, '', format);
}

function* calls(context: ParseContext, start: string, format: ToolFormat): Parsing {
  switch (format.kind) {
    case 'json':
      yield* jsonCalls(context, start, format);
      return;
    case 'tagged-json':
      yield* taggedJsonCall(context, start, format);
      return;
    case 'tagged-arguments':
      yield* taggedArgumentsCall(context, start, format);
      return;
    case 'pythonic':
      yield* pythonicCalls(context, start, format);
      return;
    case 'gemma':
      yield* gemmaCall(context, start, format);
      return;
    default:
      return;
  }
}
