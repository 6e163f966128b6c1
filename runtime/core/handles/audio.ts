/** Handles of models that hear and answer in one run. */

import type { Classification } from './scores.js';

export interface AudioClassifier {
  /**
   * Decodes an audio clip (or the audio of a video), mixes its channels, resamples it as the model wants, and runs the
   * classification head. Goes no step further once `signal` aborts.
   * @throws RunError 413 too long, 422 no audio clip that can be decoded; the signal's reason
   */
  classify(audio: Uint8Array, signal: AbortSignal): Promise<Classification>;
}
