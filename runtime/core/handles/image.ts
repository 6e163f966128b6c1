/** Handles of models that read pictures and answer in one run. */

import type { Classification } from './scores.js';

export interface ImageClassifier {
  /**
   * Decodes a picture (JPEG, PNG, WebP, AVIF, TIFF, GIF), applies its EXIF orientation and the repository's
   * image processor, and runs the classification head. Goes no step further once `signal` aborts.
   * @throws RunError 413 too many pixels, 415 no picture, 422 broken picture; the signal's reason
   */
  classify(image: Uint8Array, signal: AbortSignal): Promise<Classification>;
}

/** Corners in whole pixels of the picture that was given, after its orientation has been applied. */
export interface Box {
  xmin: number;
  ymin: number;
  xmax: number;
  ymax: number;
}

export interface Detection {
  score: number;
  label: string;
  box: Box;
}
