/** Handles of models that hear and answer in one run. */

import type { Classification } from './scores.js';

export interface AudioClassifier {
  /**
   * Decodes a sound (or the sound of a video), mixes its channels, resamples it as the model wants, and runs the
   * classification head. Goes no step further once `signal` aborts.
   * @throws RunError 413 too long, 422 no sound that can be decoded; the signal's reason
   */
  classify(sound: Uint8Array, signal: AbortSignal): Promise<Classification>;
}
