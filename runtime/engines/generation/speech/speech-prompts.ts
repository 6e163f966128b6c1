import type { RecognitionOptions } from '../../../core/handles/index.js';

type Asked = Pick<RecognitionOptions, 'language' | 'task'>;

/** How a decoder is told what to write of an audio clip. */
export interface SpeechPrompts {
  /** Codes of languages, where a request has to name one. */
  languages?: readonly string[];
  /** Parameters that such models can't follow, beside those that are Whisper's alone. */
  refused: readonly (keyof RecognitionOptions)[];
  /**
   * What the decoder begins with.
   * @throws RunError 422 for a language that the model does not know, or has to be told
   */
  tokens(asked: Asked): number[];
  /** Code of the language that is spoken, as the request has it. */
  language(asked: Asked): string;
  /** Pieces of long audio. Absent: audio is cut where a request asks for it. */
  pieces?(samples: Float32Array): Float32Array[];
  /** Texts of pieces as one. Absent: their tokens are decoded behind one another. */
  join?(texts: readonly string[], asked: Asked): string;
}

/** The decoder's start token comes first, as in generate(). */
export const withStart = (start: number, prompt: readonly number[]): readonly number[] =>
  prompt[0] === start ? prompt : [start, ...prompt];
