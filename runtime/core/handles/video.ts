/** Handles of models that watch and answer in one run. */

import type { Classification } from './scores.js';

export interface ClipOptions {
  /** How many frames are read; what the model was trained with by default. */
  frames: number | undefined;
  /** Every so many frames one is read. */
  every: number;
}

export interface VideoClassifier {
  /**
   * Reads frames from the start of a video, and runs the classification head over them.
   * @throws RunError 413 too large or too long, 422 no video, or one of fewer frames; the signal's reason
   */
  classify(video: Uint8Array, options: ClipOptions, signal: AbortSignal): Promise<Classification>;
}
