/** Handles of models that read an image together with texts, and answer in one run. */

import type { Detection } from './image.js';
import type { Classification } from './scores.js';

export interface ImageTextMatcher {
  /** How the logits of several texts become scores: against each other, or each by itself. */
  readonly scoring: 'softmax' | 'sigmoid';
  /**
   * How well each text describes an image: one logit for each.
   * @throws RunError 413 too many pixels, 415 no image, 422 broken image or a text too long; the signal's reason
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

export interface ImageQuestion {
  image: Uint8Array;
  question: string;
  /** Whether a question that the tokenizer's limit is too short for is cut there. */
  truncate: boolean;
}

export interface VisualQuestionAnswerer {
  /**
   * Scores every answer that the model knows.
   * @throws RunError 413 too many pixels, 415 no image, 422 broken image or a question too long; the signal's reason
   */
  answer(request: ImageQuestion, signal: AbortSignal): Promise<Classification>;
}
