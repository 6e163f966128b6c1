/** Handles of models that make audio clips. */

import type { MediaOutput } from '../media-output.js';
import type { AudioFormat } from '../audio-formats.js';

export interface Audio {
  /** One channel. */
  samples: Float32Array;
  /** Samples per second. */
  rate: number;
}

/** Keyword arguments of Python's pipelines and of generate(); which of them a model takes depends on its family. */
export type AudioOptions = Readonly<Record<string, unknown>>;

/** A family's model, which makes samples. */
export interface SampleSynthesizer {
  /** Options of an example that is short, always the same, and has all that the model needs. */
  readonly exampleOptions: AudioOptions;
  /** What its voices are called, by their numbers; none of a model that has no choice of them. */
  readonly voices: readonly string[];
  /**
   * Speaks a text, or makes the audio that it describes.
   * @throws RunError 422 for a text that is empty for the model or too long, or an option that it can't do; the signal's
   * reason
   */
  speak(text: string, options: AudioOptions, signal: AbortSignal): Promise<Audio>;
}

export interface SpeechSynthesizer extends SampleSynthesizer {
  /**
   * Writes an audio clip as a file.
   * @throws RunError `unprocessable` where there is no ffmpeg that writes the format; the signal's reason
   */
  encode(audio: Audio, format: AudioFormat, signal: AbortSignal): Promise<MediaOutput>;
}
