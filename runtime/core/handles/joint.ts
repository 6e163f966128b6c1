/** Handles of models that read a picture together with texts, and answer in one run. */

export interface ImageTextMatcher {
  /** How the logits of several texts become scores: against each other, or each by itself. */
  readonly scoring: 'softmax' | 'sigmoid';
  /**
   * How well each text describes a picture: one logit for each.
   * @throws RunError 413 too many pixels, 415 no picture, 422 broken picture or a text too long; the signal's reason
   */
  match(image: Uint8Array, texts: readonly string[], signal: AbortSignal): Promise<Float32Array>;
}
