/** Handles of models that read a picture together with texts, and answer in one run. */

import type { Detection } from './image.js';
import type { Classification } from './scores.js';

export interface ImageTextMatcher {
  /** How the logits of several texts become scores: against each other, or each by itself. */
  readonly scoring: 'softmax' | 'sigmoid';
  /**
   * How well each text describes a picture: one logit for each.
   * @throws RunError 413 too many pixels, 415 no picture, 422 broken picture or a text too long; the signal's reason
   */
  match(image: Uint8Array, texts: readonly string[], signal: AbortSignal): Promise<Float32Array>;
}

export interface TextGuidedDetector {
  /**
   * Objects of each label, best first.
   * @param threshold least score
   * @throws RunError as ImageTextMatcher.match
   */
  detect(
    image: Uint8Array,
    labels: readonly string[],
    threshold: number,
    signal: AbortSignal,
  ): Promise<Detection[]>;
}

export interface PictureQuestion {
  image: Uint8Array;
  question: string;
  /** Whether a question that the tokenizer's limit is too short for is cut there. */
  truncate: boolean;
}

export interface VisualQuestionAnswerer {
  /**
   * Scores every answer that the model knows.
   * @throws RunError 413 too many pixels, 415 no picture, 422 broken picture or a question too long; the signal's reason
   */
  answer(request: PictureQuestion, signal: AbortSignal): Promise<Classification>;
}
