import type { Steps } from '../../../core/steps.js';
import type { Image } from '../../../media/decoded-image.js';
import type { Json } from '../../repository/model-folder.js';
import type { Resize, ResizeSettings } from './geometry.js';
import type { Edges } from './sizes.js';

export interface ProcessorSettings extends ResizeSettings {
  /** Of the transformers that wrote the model's files, whose classes differ here and there. */
  major: number;
  do_resize: boolean;
  do_center_crop: boolean;
  crop_size: Edges;
  do_rescale: boolean;
  rescale_factor: number;
  rescale_offset: boolean;
  do_normalize: boolean;
  image_mean: number[];
  image_std: number[];
  include_top: boolean;
  do_flip_channel_order: boolean;
  do_pad: boolean;
  /** Edges become multiples of it. */
  size_divisor: number;
  /** The same in transformers.js's files. */
  size_divisibility: number;
  keep_aspect_ratio: boolean;
  ensure_multiple_of: number;
  do_thumbnail: boolean;
  do_align_long_axis: boolean;
  /** Siglip2's: pixels of a patch's sides, and most patches of an image. */
  patch_size: number;
  max_num_patches: number;
  /** timm's: center, squash, border. */
  crop_mode: string;
}

/** What an image is padded to. */
export interface Padding {
  to: Edges;
  /** Where the image begins; 0 by default. */
  top?: number;
  left?: number;
  /** Python pads with zeros before it normalises (`pixels`), or after (`values`). */
  when: 'pixels' | 'values';
}

/** Numbers of the three channels, one after the other. */
export interface Floats extends Edges {
  values: Float32Array;
  /** As in ProcessedImage. */
  patches?: readonly [number, number];
}

/** How one family of Python image processors differs from the plain order resize, crop, rescale, normalise. */
export interface ProcessorFamily {
  /** What a bare number in `size` means: an edge (CLIP, SAM), a square (ViT), or the shortest edge within `max_size` (DETR). */
  number: 'shortest' | 'longest' | 'square' | 'bounded';
  resize: Resize<ProcessorSettings>;
  /** Settings in the names of the others, for a class that has names of its own. */
  translate?: (config: Json) => Json;
  /** Rescales and normalises before it resizes, or resizes floats: it gives the numbers itself. */
  floats?: (image: Image, settings: ProcessorSettings) => Steps<Floats>;
  /** True for a class that reads tensors: it doesn't guess which axis is that of the colours. */
  tensors?: boolean;
  /** True where `resize` cuts, too. */
  cropsItself?: boolean;
  /** Absent, or nothing: nothing is padded. */
  pad?: (size: Edges, settings: ProcessorSettings, config: Json) => Padding | undefined;
  /** True where `crop_pct: null` means none instead of the default. */
  nullCrop?: boolean;
  /** Constructor defaults, for files that leave fields out. */
  defaults: Partial<Record<keyof ProcessorSettings, unknown>>;
  /** What the class does whatever the file says, by the major version that wrote it. */
  fixed?: (major: number) => Partial<ProcessorSettings>;
}
