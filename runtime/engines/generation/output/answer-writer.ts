import type { Delta } from '../../../core/delta.js';
import type { GeneratedText } from '../../../core/handles/index.js';
import type { TextStream } from './text-stream.js';

/** What an answer is as far as its text goes. */
export type AnswerText = Pick<
  GeneratedText,
  'text' | 'toolCalls' | 'reasoning' | 'reasoningTokens' | 'stoppedBy'
>;

/** Turns the tokens of one answer into what is told of it. */
export interface AnswerWriter {
  /** Takes one token; returns the pieces that have become certain. */
  push(id: number): (string | Delta)[];
  /**
   * The rest, once no more tokens come.
   * @param cut whether the text has become too long, so that its end may be missing
   */
  finish(cut: boolean): (string | Delta)[];
  /** True once nothing more will come out: after a stop string, or where more would not count. */
  readonly stopped: boolean;
  readonly parts: AnswerText;
}

/** Which stop string has ended a text, where one has. */
export const stopOf = ({ stoppedBy }: TextStream): Pick<AnswerText, 'stoppedBy'> =>
  stoppedBy === undefined ? {} : { stoppedBy };

/** Text as it is. @param text what the stream has given so far */
export function createTextWriter(stream: TextStream, text: string): AnswerWriter {
  let whole = text;
  const emit = (piece: string) => {
    whole += piece;
    return piece === '' ? [] : [piece];
  };
  return {
    push: (id) => emit(stream.push(id)),
    finish: () => emit(stream.finish()),
    get stopped() {
      return stream.stopped;
    },
    get parts() {
      return { text: whole, ...stopOf(stream) };
    },
  };
}
