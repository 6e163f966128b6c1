import type { Json } from '../../repository/model-folder.js';
import {
  convNextResize,
  levitResize,
  longestEdgeResize,
  plainResize,
  poolFormerResize,
  type Resize,
  type ResizeSettings,
  viltResize,
} from './geometry.js';
import { maskFormerResize } from './segmentation-resize.js';
import { donutResize } from './donut.js';
import { dptResize, glpnResize } from './depth-resize.js';
import { detrResize, yolosResize } from './detection-resize.js';
import { type Edges, multipleAbove } from './sizes.js';

export interface ProcessorSettings extends ResizeSettings {
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
  keep_aspect_ratio: boolean;
  ensure_multiple_of: number;
  do_thumbnail: boolean;
  do_align_long_axis: boolean;
}

/** What a picture is padded to. */
export interface Padding {
  to: Edges;
  /** Where the picture begins; 0 by default. */
  top?: number;
  left?: number;
  /** Python pads with zeros before it normalises (`pixels`), or after (`values`). */
  when: 'pixels' | 'values';
}

/** How one family of Python image processors differs from the plain order resize, crop, rescale, normalise. */
export interface ProcessorFamily {
  /** What a bare number in `size` means: the shortest edge (CLIP), a square (ViT), or the shortest edge within `max_size` (DETR). */
  number: 'shortest' | 'square' | 'bounded';
  resize: Resize<ProcessorSettings>;
  /** Absent: nothing is padded. */
  pad?: (size: Edges, settings: ProcessorSettings, config: Json) => Padding;
  /** True where `crop_pct: null` means none instead of the default. */
  nullCrop?: boolean;
  /** Constructor defaults, for files that leave fields out. */
  defaults: Partial<Record<keyof ProcessorSettings, unknown>>;
  /** What the class does whatever the file says. */
  fixed?: Partial<ProcessorSettings>;
}

export const HALF = [0.5, 0.5, 0.5];
const IMAGENET = { image_mean: [0.485, 0.456, 0.406], image_std: [0.229, 0.224, 0.225] };
const CLIP = {
  image_mean: [0.48145466, 0.4578275, 0.40821073],
  image_std: [0.26862954, 0.26130258, 0.27577711],
};
const [NEAREST, BICUBIC] = [0, 3];
export const BILINEAR = 2;

const square = (defaults: ProcessorFamily['defaults']): ProcessorFamily => ({
  number: 'square',
  resize: plainResize,
  defaults,
});
const shortest = (defaults: ProcessorFamily['defaults']): ProcessorFamily => ({
  number: 'shortest',
  resize: plainResize,
  defaults,
});

const clip = shortest({ size: 224, resample: BICUBIC, do_center_crop: true, crop_size: 224, ...CLIP });
/** DETR's: zeros after normalising, up to `pad_size` where that is set. */
const detrPad: ProcessorFamily['pad'] = (size, _, config) => ({
  to: (config['pad_size'] ?? size) as Edges,
  when: 'values',
});
const detr: ProcessorFamily = {
  number: 'bounded',
  resize: detrResize,
  pad: detrPad,
  defaults: { size: { shortest_edge: 800, longest_edge: 1333 }, ...IMAGENET },
};

const centered = (size: Edges, to: Edges): Padding => ({
  to,
  top: Math.floor((to.height - size.height) / 2),
  left: Math.floor((to.width - size.width) / 2),
  when: 'values',
});

const maskFormer: ProcessorFamily = {
  ...detr,
  resize: maskFormerResize,
};

/** Never smaller than the picture. */
const donutSize = (size: Edges, { size: to }: ProcessorSettings): Edges =>
  'height' in to ? { height: Math.max(size.height, to.height), width: Math.max(size.width, to.width) } : size;

const vit = square({ size: 224 });
const mobilenet = shortest({ size: 256, do_center_crop: true, crop_size: 224 });

/** Python class (less a `Fast` or `ImageProcessor`/`FeatureExtractor` ending) to its rules. */
export const FAMILIES: Record<string, ProcessorFamily> = {
  ViT: vit,
  PVT: square({ size: 224, ...IMAGENET }),
  Pvt: square({ size: 224, ...IMAGENET }),
  Segformer: square({ size: 512, ...IMAGENET }),
  Siglip: square({ size: 224, resample: BICUBIC }),
  DeiT: square({ size: 256, resample: BICUBIC, do_center_crop: true, crop_size: 224 }),
  Beit: square({ size: 256, resample: BICUBIC, do_center_crop: true, crop_size: 224 }),
  EfficientFormer: square({
    ...{ size: 224, resample: BICUBIC, do_center_crop: true, crop_size: 224 },
    ...IMAGENET,
  }),
  Blip: square({ size: 384, resample: BICUBIC, ...CLIP }),
  CLIP: clip,
  Bit: clip,
  ChineseCLIP: clip,
  ViTHybrid: clip,
  MobileNetV1: mobilenet,
  MobileNetV2: mobilenet,
  ConvNext: { number: 'shortest', resize: convNextResize, defaults: { size: 384, crop_pct: 224 / 256 } },
  Levit: {
    number: 'shortest',
    resize: levitResize,
    defaults: { size: 224, resample: BICUBIC, do_center_crop: true, crop_size: 224, ...IMAGENET },
  },
  PoolFormer: {
    number: 'shortest',
    resize: poolFormerResize,
    nullCrop: true,
    defaults: {
      size: 224,
      crop_pct: 0.9,
      resample: BICUBIC,
      do_center_crop: true,
      crop_size: 224,
      ...IMAGENET,
    },
  },
  MobileViT: shortest({
    ...{ size: 224, do_center_crop: true, crop_size: 256 },
    ...{ do_normalize: false, do_flip_channel_order: true },
  }),
  OwlViT: square({ size: 768, resample: BICUBIC, crop_size: 768, ...CLIP }),
  Vilt: { number: 'shortest', resize: viltResize, defaults: { size: 384, resample: BICUBIC } },
  Sam: {
    number: 'shortest',
    resize: longestEdgeResize,
    pad: (_, __, config) => ({
      to: (config['pad_size'] ?? { height: 1024, width: 1024 }) as Edges,
      when: 'values',
    }),
    defaults: { size: { longest_edge: 1024 }, ...IMAGENET },
  },
  Detr: detr,
  ConditionalDetr: detr,
  DeformableDetr: detr,
  GroundingDino: detr,
  DPT: {
    number: 'square',
    resize: dptResize,
    pad: (size, { size_divisor }) => centered(size, multipleAbove(size, size_divisor)),
    defaults: { size: 384, resample: BICUBIC, do_pad: false },
  },
  GLPN: {
    number: 'square',
    resize: glpnResize,
    defaults: {},
    fixed: { do_normalize: false, do_center_crop: false, rescale_factor: 1 / 255 },
  },
  MaskFormer: maskFormer,
  Mask2Former: maskFormer,
  OneFormer: maskFormer,
  Donut: {
    number: 'square',
    resize: donutResize,
    pad: (size, settings) => ({ ...centered(size, donutSize(size, settings)), when: 'pixels' }),
    defaults: { size: { height: 2560, width: 1920 } },
  },
  Yolos: { ...detr, resize: yolosResize },
  RTDetr: {
    ...detr,
    defaults: { size: { height: 640, width: 640 }, do_normalize: false, do_pad: false, ...IMAGENET },
  },
  EfficientNet: square({ size: 346, resample: NEAREST, crop_size: 289, include_top: true }),
};
