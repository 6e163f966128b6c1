/** Handles of models that make images and videos out of noise. */

import type { MediaOutput } from '../media-output.js';
import type { Progress } from '../progress.js';

/** Keyword arguments of diffusers' pipelines, by their Python names. What a pipeline lacks is refused by name. */
export interface ImageOptions {
  negative_prompt?: string | null | undefined;
  num_inference_steps?: number | null | undefined;
  guidance_scale?: number | null | undefined;
  guidance_rescale?: number | null | undefined;
  /** Tokens of a text that T5 reads. */
  max_sequence_length?: number | null | undefined;
  height?: number | null | undefined;
  width?: number | null | undefined;
  /** The noise is that of torch.Generator().manual_seed(seed); another one each time if absent. */
  seed?: number | null | undefined;
  eta?: number | null | undefined;
  /** The noise to start from: nested lists in the shape of Python's tensor, of variance 1. */
  latents?: unknown;
}

export interface VideoOptions extends ImageOptions {
  num_frames?: number | null | undefined;
  /** Container and codec; MP4 with H.264 if absent. */
  format?: 'mp4' | 'webm' | null | undefined;
}

export interface ImageMaker<Options = ImageOptions> {
  /** A short request for this model. */
  readonly example: Record<string, unknown>;
  /**
   * Makes an image or a video: as the text says, where the model reads one.
   * @throws RunError 422 for an option that this model can't do, or for which there is no memory; the signal's reason
   */
  make(text: string, options: Options, work: StepwiseWork): Promise<MediaOutput>;
}

/** What is made step by step. */
export interface StepwiseWork {
  /** Ends it within one step. */
  signal: AbortSignal;
  /** Called when the steps begin and after each one. */
  tell(progress: Progress): void;
}
