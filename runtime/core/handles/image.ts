/** Handles of models that read images and answer in one run. */

import type { Classification } from './scores.js';

export interface ImageClassifier {
  /**
   * Decodes an image (JPEG, PNG, WebP, AVIF, TIFF, GIF), applies its EXIF orientation and the repository's
   * image processor, and runs the classification head. Goes no step further once `signal` aborts.
   * @throws RunError 413 too many pixels, 415 no image, 422 broken image; the signal's reason
   */
  classify(image: Uint8Array, signal: AbortSignal): Promise<Classification>;
}

/** Corners in whole pixels of the image that was given, after its orientation has been applied. */
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

export interface ImageFeatures {
  values: Float32Array;
  /** Axes without the one of images: tokens and hidden states, or channels, height and width. */
  dims: readonly number[];
}

export interface ImageFeatureExtractor {
  /**
   * Hidden states of an image, or with `pool` the one vector that the model makes of them, as [1, hidden] or
   * [1, hidden, 1, 1].
   * @throws RunError 422 `pool` for a model that makes none; else as ImageClassifier.classify
   */
  extract(image: Uint8Array, pool: boolean, signal: AbortSignal): Promise<ImageFeatures>;
}

export interface Depth {
  /** The model's own prediction over its largest value, 0 to 255, row by row. */
  levels: Uint8Array;
  width: number;
  /** Of the image's size, from the nearest 0 to the farthest 255; grey PNG. */
  png: Uint8Array;
}

export interface DepthEstimator {
  /** @throws RunError 413 too many pixels, 415 no image, 422 broken image; the signal's reason */
  estimate(image: Uint8Array, signal: AbortSignal): Promise<Depth>;
}

export interface ObjectDetector {
  /**
   * Objects of an image, in Python's order: by query of the model, or best first.
   * @param threshold a score must exceed it
   * @throws RunError 413 too many pixels, 415 no image, 422 broken image; the signal's reason
   */
  detect(image: Uint8Array, threshold: number, signal: AbortSignal): Promise<Detection[]>;
}

export interface SegmentOptions {
  /** What is looked for; undefined: what the model does best. */
  subtask: 'panoptic' | 'instance' | 'semantic' | undefined;
  /** Least probability of an object. */
  threshold: number;
  /** Probability from which on a pixel belongs to a mask. */
  maskThreshold: number;
  /** Least share of a mask that other masks must leave to it. */
  overlapThreshold: number;
}

export interface SegmentedPart {
  label: string;
  /** Undefined for classes of pixels. */
  score: number | undefined;
  /** Grey PNG of the image's size: 255 where the part is, else 0. */
  png: Uint8Array;
}

export interface ImageSegmenter {
  /** @throws RunError 422 a subtask that the model does not do; else as ObjectDetector.detect */
  segment(image: Uint8Array, options: SegmentOptions, signal: AbortSignal): Promise<SegmentedPart[]>;
}

export interface MaskOptions {
  /** Points of each side of the grid. */
  pointsPerSide: number;
  /** Points of a run of the graph, at most. */
  pointsPerRun: number;
  /** Least score that the model gives a mask. */
  minScore: number;
  /** Least share of pixels that stay when the threshold is raised rather than lowered by `offset`. */
  minStability: number;
  offset: number;
  /** Logit from which on a pixel belongs to the mask. */
  threshold: number;
  /** Most overlap of the boxes of two masks. */
  overlap: number;
}

export interface GeneratedMasks {
  /** Size of the image and of its masks. */
  width: number;
  height: number;
  /** Best first. */
  masks: {
    score: number;
    /** First and last pixel along each axis. */
    box: { left: number; top: number; right: number; bottom: number };
    /** 0 and 1 for each pixel, row by row; made anew by each call. */
    pixels(): Uint8Array;
  }[];
}

export interface MaskGenerator {
  /**
   * Masks of all that is in an image.
   * @throws RunError 413 too many pixels, 415 no image, 422 broken image; the signal's reason
   */
  generate(image: Uint8Array, options: MaskOptions, signal: AbortSignal): Promise<GeneratedMasks>;
}
