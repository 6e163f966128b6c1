import type { Delta } from '../../../core/delta.js';
import type { Alphabet } from '../../tool-calls/parse/alphabet.js';
import type { AnswerParts } from '../../tool-calls/parse/answer.js';
import type { AnswerParser } from '../../tool-calls/parse/answer-parser.js';
import { type AnswerWriter, stopOf } from './answer-writer.js';
import type { TextStream } from './text-stream.js';

export interface ParsingWriterInput {
  parser: AnswerParser;
  alphabet: Alphabet;
  /** Text of a token that leaves none in plain text. */
  specialText(id: number): string | undefined;
  /** Begins a stream of text after these tokens. */
  startStream(after: readonly number[]): TextStream;
  prompt: readonly number[];
  /** What the answer begins with, at the end of the prompt, as the parser reads it. */
  begun: string;
}

/** Tokens before a stream that give it its left context. */
const CONTEXT = 64;

/** Tells calls and reasoning apart from content. Special tokens reach the parser as such. */
export function createParsingWriter(input: ParsingWriterInput): AnswerWriter {
  const { parser, alphabet, specialText, startStream } = input;
  let recent = input.prompt.slice(-CONTEXT);
  let stream = startStream(recent);
  let early = input.begun === '' ? [] : parser.push(input.begun);
  let reasoningTokens = 0;
  let parts: AnswerParts = { content: '', reasoning: '', calls: [] };
  const read = (text: string): Delta[] => (text === '' ? [] : parser.push(alphabet.encode(text)));
  return {
    push(id) {
      const begun = early;
      early = [];
      if (parser.thinking) reasoningTokens++;
      recent = [...recent.slice(1 - CONTEXT), id];
      const special = specialText(id);
      if (special === undefined) return [...begun, ...read(stream.push(id))];
      // What was held back stands before the token.
      const before = [...begun, ...read(stream.finish())];
      if (stream.stopped) return before;
      stream = startStream(recent);
      const unit = alphabet.unitOf(special);
      return unit === undefined ? before : [...before, ...parser.push(unit)];
    },
    finish(cut) {
      const before = [...early, ...read(stream.finish())];
      const { deltas, parts: found } = parser.finish(cut);
      parts = found;
      return [...before, ...deltas];
    },
    get stopped() {
      return stream.stopped || parser.ended;
    },
    get parts() {
      const { content, reasoning, calls } = parts;
      return {
        ...{ text: content, reasoningTokens, ...stopOf(stream) },
        ...(calls.length > 0 ? { toolCalls: calls } : {}),
        ...(reasoning === '' ? {} : { reasoning }),
      };
    },
  };
}
