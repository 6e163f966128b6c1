/** Handles of models that write down what is said, in one run or in many. */

import type { GenerateOptions } from './generation.js';

/** What the pipeline of speech recognition takes beside generation arguments. */
export interface SpeechOptions {
  /** Whisper's: a name (`german`), a code (`de`) or a token (`<|de|>`); detected where neither request nor repository says. */
  language?: string | null | undefined;
  /** Whisper's: write down, or translate into English. */
  task?: 'transcribe' | 'translate' | null | undefined;
  /** Whisper's: times are tokens, too, which are not part of the text. */
  return_timestamps?: boolean | 'word' | 'char' | null | undefined;
  /** Times are part of the answer; those of words are told for nobody else. */
  return_chunks?: boolean | null | undefined;
  /** Whisper's: tokens of words to expect, `<|startofprev|>` first. */
  prompt_ids?: readonly number[] | null | undefined;
  /** Whisper's: such words as a text, in place of their tokens. */
  prompt?: string | null | undefined;
  /** Whisper's: what was said stands before the next window. */
  condition_on_prev_tokens?: boolean | null | undefined;
  /** More than one, Whisper's: the next one is tried where a threshold is missed. */
  temperature?: number | readonly number[] | null | undefined;
  /** Whisper's: a text is transcribed again where its tokens compress better than so many times. */
  compression_ratio_threshold?: number | null | undefined;
  /** Whisper's: a text is transcribed again where the mean of its tokens' logarithmic probabilities is lower. */
  logprob_threshold?: number | null | undefined;
  /** Whisper's: a window with that text is silent where silence is likelier than this. */
  no_speech_threshold?: number | null | undefined;
  /** Seconds of the pieces that an audio clip is cut into; 0: not cut. */
  chunk_length_s?: number | null | undefined;
  /** Seconds that pieces share with the one before and after; a sixth of a piece by default. */
  stride_length_s?: number | readonly [number, number] | null | undefined;
}

export type RecognitionOptions = Omit<GenerateOptions, 'temperature'> & SpeechOptions;

export interface SpeechRecognizer {
  /** Codes of languages, where a request has to name one of them. */
  languages?: readonly string[] | undefined;
  /**
   * Writes down what is said in an audio clip of any length, in Python's own spacing.
   * @throws RunError 413 too long, 422 no audio clip that can be decoded, or an option that this model can't do
   */
  transcribe(audio: Uint8Array, options: RecognitionOptions, signal: AbortSignal): Promise<Transcript>;
}

/** A part of a transcript, with its times in seconds; null where the model told none. */
export interface TranscriptChunk {
  text: string;
  start: number | null;
  end: number | null;
}

export interface Transcript {
  text: string;
  /** Parts of the text, where their times were asked for. */
  chunks?: readonly TranscriptChunk[] | undefined;
  /** Its words, where their times were asked for. */
  words?: readonly TranscriptChunk[] | undefined;
  /** Code of the language that was spoken, where the model tells or was told; `de`. */
  language?: string | undefined;
  /** Length of the audio. */
  seconds: number;
  /** Tokens that were made. */
  tokensOut: number;
}
