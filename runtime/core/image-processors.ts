/**
 * Python's image processors whose rules are known here, less the ending of their names: the server computes them, and the
 * builder refuses others before anything is downloaded. Chats about images have processors of their own families.
 */
export const IMAGE_PROCESSORS = [
  ...([
    'ViT',
    'PVT',
    'Pvt',
    'Segformer',
    'VideoMAE',
    'Vivit',
    'Siglip',
    'Siglip2',
    'Gemma3',
    'DeiT',
    'Beit',
    'EfficientFormer',
  ] as const),
  ...([
    'LayoutLMv3',
    'Blip',
    'CLIP',
    'Bit',
    'ChineseCLIP',
    'VideoLlava',
    'ViTHybrid',
    'MobileNetV1',
    'MobileNetV2',
  ] as const),
  ...([
    'ConvNext',
    'Levit',
    'PoolFormer',
    'MobileViT',
    'OwlViT',
    'Owlv2',
    'Vilt',
    'Sam',
    'Sam2',
    'Sam3',
    'DINOv3ViT',
    'Pix2Struct',
    'Detr',
  ] as const),
  ...([
    'ConditionalDetr',
    'DeformableDetr',
    'GroundingDino',
    'DPT',
    'CHMv2',
    'PromptDepthAnything',
    'DepthPro',
    'Tipsv2',
    'Tipsv2Dpt',
  ] as const),
  ...([
    'ZoeDepth',
    'GLPN',
    'MaskFormer',
    'Mask2Former',
    'OneFormer',
    'Eomt',
    'Sapiens2',
    'Donut',
    'Yolos',
    'RTDetr',
    'PPDocLayoutV2',
    'PPDocLayoutV3',
    'PPDocLayoutV4',
    'RfDetr',
  ] as const),
  ...(['Perceiver', 'TextNet', 'TimmWrapper', 'Image', 'EfficientNet'] as const),
] as const;

export type ImageProcessorName = (typeof IMAGE_PROCESSORS)[number];

/** `ViTImageProcessorFast` and `ViTFeatureExtractor` are `ViT`. */
export const imageProcessorStem = (name: string): string =>
  name.replace(/Fast$/, '').replace(/(ImageProcessor|FeatureExtractor)$/, '');

export const isImageProcessor = (stem: string): stem is ImageProcessorName =>
  (IMAGE_PROCESSORS as readonly string[]).includes(stem);
