/** Handles of models that make sounds. */

import type { MediaOutput } from '../media-output.js';
import type { SoundFormat } from '../sound-formats.js';

export interface Sound {
  /** One channel. */
  samples: Float32Array;
  /** Samples per second. */
  rate: number;
}

/** Keyword arguments of Python's pipelines and of generate(); which of them a model takes depends on its family. */
export type SoundOptions = Readonly<Record<string, unknown>>;

/** A family's model, which makes samples. */
export interface SampleSynthesizer {
  /** Options of an example that is short, always the same, and has all that the model needs. */
  readonly exampleOptions: SoundOptions;
  /** What its voices are called, by their numbers; none of a model that has no choice of them. */
  readonly voices: readonly string[];
  /**
   * Speaks a text, or makes the sound that it describes.
   * @throws RunError 422 for a text that is empty for the model or too long, or an option that it can't do; the signal's
   * reason
   */
  speak(text: string, options: SoundOptions, signal: AbortSignal): Promise<Sound>;
}

export interface SpeechSynthesizer extends SampleSynthesizer {
  /**
   * Writes a sound as a file.
   * @throws RunError `unprocessable` where there is no ffmpeg that writes the format; the signal's reason
   */
  encode(sound: Sound, format: SoundFormat, signal: AbortSignal): Promise<MediaOutput>;
}
