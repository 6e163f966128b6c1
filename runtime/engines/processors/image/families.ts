import type { ImageProcessorName } from '../../../core/image-processors.js';
import {
  convNextResize,
  generalResize,
  levitResize,
  longestEdgeResize,
  plainResize,
  poolFormerResize,
  perceiverResize,
  viltResize,
} from './geometry.js';
import { maskFormerResize, sapiens2Resize, textNetResize } from './segmentation-resize.js';
import { donutResize } from './donut.js';
import { eomtPadding, eomtResize, eomtSettings } from './eomt.js';
import { chmv2Resize, chmv2Settings, dptResize, glpnResize } from './depth-resize.js';
import { docLayout, docLayout4 } from './plain-resize.js';
import { detrResize, yolosResize } from './detection-resize.js';
import { rfDetrFloats, rfDetrSettings } from './rf-detr.js';
import { depthProFloats } from './depth-pro.js';
import { checkFloatSettings, zoeDepthFloats } from './zoe-depth.js';
import { pix2structFloats, pix2structSettings } from './pix2struct.js';
import { owlv2Floats, owlv2Settings } from './owlv2.js';
import { siglip2Floats } from './siglip2.js';
import { CLIP } from './levels.js';
import { timmResize, timmSettings } from './timm.js';
import { checkTorchSettings, torchFloats, torchResize } from './torch-resize.js';
import type { Padding, ProcessorFamily, ProcessorSettings } from './processor-settings.js';
import { type Edges, edgesOf, multipleAbove } from './sizes.js';

export const HALF = [0.5, 0.5, 0.5];
const IMAGENET = { image_mean: [0.485, 0.456, 0.406], image_std: [0.229, 0.224, 0.225] };
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

const dpt: ProcessorFamily = {
  number: 'square',
  resize: dptResize,
  // Without a divisor classes of version 4 fail.
  pad: (size, { size_divisor }, config) =>
    config['size_divisor'] ? centered(size, multipleAbove(size, size_divisor)) : undefined,
  defaults: { size: 384, resample: BICUBIC, do_pad: false },
};

/** Never smaller than the image. */
const donutSize = (size: Edges, { size: to }: ProcessorSettings): Edges =>
  'height' in to ? { height: Math.max(size.height, to.height), width: Math.max(size.width, to.width) } : size;

const vit = square({ size: 224 });
const asTensors = { resize: torchResize, tensors: true, translate: checkTorchSettings };
/** Pixels stay between 0 and 1. */
const tips: ProcessorFamily = {
  ...square({ size: 448, do_normalize: false }),
  ...asTensors,
};
const mobilenet = shortest({ size: 256, do_center_crop: true, crop_size: 224 });

/** Python class (less a `Fast` or `ImageProcessor`/`FeatureExtractor` ending) to its rules. */
export const FAMILIES: Record<ImageProcessorName, ProcessorFamily> = {
  ViT: vit,
  PVT: square({ size: 224, ...IMAGENET }),
  Pvt: square({ size: 224, ...IMAGENET }),
  Segformer: square({ size: 512, ...IMAGENET }),
  VideoMAE: shortest({ size: 224, do_center_crop: true, crop_size: 224, ...IMAGENET }),
  Vivit: {
    ...shortest({
      ...{ size: 256, do_center_crop: true, crop_size: 224 },
      ...{ rescale_factor: 1 / 127.5, rescale_offset: true },
    }),
    translate: ({ offset, ...config }) => (offset == null ? config : { ...config, rescale_offset: offset }),
  },
  Siglip: square({ size: 224, resample: BICUBIC }),
  Gemma3: square({ size: 224 }),
  Siglip2: { ...square({}), floats: siglip2Floats },
  DeiT: square({ size: 256, resample: BICUBIC, do_center_crop: true, crop_size: 224 }),
  Beit: square({ size: 256, resample: BICUBIC, do_center_crop: true, crop_size: 224 }),
  EfficientFormer: square({
    ...{ size: 224, resample: BICUBIC, do_center_crop: true, crop_size: 224 },
    ...IMAGENET,
  }),
  LayoutLMv3: square({ size: 224 }),
  Blip: square({ size: 384, resample: BICUBIC, ...CLIP }),
  CLIP: clip,
  Bit: clip,
  ChineseCLIP: clip,
  VideoLlava: clip,
  ViTHybrid: clip,
  MobileNetV1: mobilenet,
  MobileNetV2: mobilenet,
  ConvNext: {
    number: 'shortest',
    resize: convNextResize,
    defaults: { size: 384, crop_pct: 224 / 256 },
    fixed: () => ({ do_center_crop: false }),
  },
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
  MobileViT: {
    ...shortest({ size: 224, do_center_crop: true, crop_size: 256, do_flip_channel_order: true }),
    fixed: () => ({ do_normalize: false }),
  },
  OwlViT: square({ size: 768, resample: BICUBIC, crop_size: 768, ...CLIP }),
  Owlv2: {
    ...square({ size: 960, ...CLIP, do_pad: true }),
    floats: owlv2Floats,
    translate: owlv2Settings,
  },
  Vilt: { number: 'shortest', resize: viltResize, defaults: { size: 384, resample: BICUBIC } },
  Sam: {
    number: 'longest',
    resize: longestEdgeResize,
    pad: (_, __, config) => ({
      to: edgesOf(config['pad_size'] ?? 1024),
      when: 'values',
    }),
    defaults: { size: { longest_edge: 1024 }, ...IMAGENET },
  },
  Sam2: { ...square({ size: 1024, ...IMAGENET }), ...asTensors },
  Sam3: { ...square({ size: 1008 }), ...asTensors },
  Tipsv2: tips,
  Tipsv2Dpt: tips,
  DINOv3ViT: {
    ...square({ size: 224, ...IMAGENET }),
    floats: torchFloats,
    tensors: true,
    translate: checkTorchSettings,
  },
  Pix2Struct: { ...square({}), floats: pix2structFloats, translate: pix2structSettings },
  Detr: detr,
  ConditionalDetr: detr,
  DeformableDetr: detr,
  GroundingDino: detr,
  DPT: dpt,
  PromptDepthAnything: dpt,
  CHMv2: {
    ...{ number: 'square', resize: chmv2Resize, tensors: true, translate: chmv2Settings },
    pad: (size, { size_divisor }) => centered(size, multipleAbove(size, size_divisor)),
    defaults: {
      ...{ size: 384, resample: BICUBIC, do_resize: false, do_pad: true, size_divisor: 16 },
      ...{ ensure_multiple_of: 16, keep_aspect_ratio: true },
      ...{ image_mean: [0.42, 0.411, 0.296], image_std: [0.213, 0.156, 0.143] },
    },
  },
  DepthPro: { ...square({ size: 1536 }), floats: depthProFloats, translate: checkTorchSettings },
  ZoeDepth: {
    ...square({
      size: { height: 384, width: 512 },
      ...{ do_pad: true, keep_aspect_ratio: true, ensure_multiple_of: 32 },
    }),
    floats: zoeDepthFloats,
    translate: checkFloatSettings,
  },
  GLPN: {
    number: 'square',
    resize: glpnResize,
    defaults: {},
    fixed: (major) => ({
      ...{ do_normalize: false, do_center_crop: false },
      ...(major < 5 ? { rescale_factor: 1 / 255 } : {}),
    }),
  },
  MaskFormer: maskFormer,
  Mask2Former: maskFormer,
  OneFormer: { ...maskFormer, fixed: () => ({ size_divisor: 0 }) },
  Eomt: {
    number: 'bounded',
    translate: eomtSettings,
    resize: eomtResize,
    pad: eomtPadding,
    defaults: { size: { shortest_edge: 640, longest_edge: 640 }, do_pad: false, ...IMAGENET },
  },
  Sapiens2: {
    ...{ number: 'square', resize: sapiens2Resize, tensors: true, translate: checkTorchSettings },
    pad: (size, { size: to, do_resize }) =>
      do_resize && 'height' in to ? { ...centered(size, to), when: 'pixels' } : undefined,
    defaults: { size: { height: 1024, width: 768 }, do_pad: false, ...IMAGENET },
  },
  Donut: {
    number: 'square',
    // A pair is width and height here.
    translate: (config) =>
      Array.isArray(config['size']) ? { ...config, size: config['size'].toReversed() } : config,
    resize: donutResize,
    pad: (size, settings) => ({ ...centered(size, donutSize(size, settings)), when: 'pixels' }),
    defaults: { size: { height: 2560, width: 1920 } },
  },
  Yolos: { ...detr, resize: yolosResize },
  RTDetr: {
    ...detr,
    defaults: { size: { height: 640, width: 640 }, do_normalize: false, do_pad: false, ...IMAGENET },
  },
  PPDocLayoutV2: docLayout,
  PPDocLayoutV3: docLayout,
  PPDocLayoutV4: docLayout4,
  RfDetr: { ...detr, floats: rfDetrFloats, tensors: true, translate: rfDetrSettings },
  Perceiver: {
    number: 'square',
    resize: perceiverResize,
    cropsItself: true,
    defaults: { size: 224, resample: BICUBIC, do_center_crop: true, crop_size: 256, ...IMAGENET },
  },
  TextNet: {
    number: 'shortest',
    resize: textNetResize,
    defaults: { size: 640, ...IMAGENET },
  },
  TimmWrapper: {
    number: 'shortest',
    translate: timmSettings,
    resize: timmResize,
    cropsItself: true,
    defaults: {},
  },
  // ImageFeatureExtractor, which Python does not have.
  Image: { number: 'shortest', resize: generalResize, defaults: {} },
  EfficientNet: square({ size: 346, resample: NEAREST, crop_size: 289, include_top: true }),
};
