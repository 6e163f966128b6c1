import { RunError } from '../../../core/errors.js';
import { type Json, readOptionalJson } from '../../repository/model-folder.js';

/**
 * What the repository says about its image processor, with the class that Python would take where it names none.
 * @param config config.json
 * @throws RunError `not_ready` where it says nothing
 */
export async function readProcessorConfig(dir: string, config: Json): Promise<Json> {
  // timm's repositories have their settings there.
  if (config['pretrained_cfg']) return { ...config, image_processor_type: 'TimmWrapperImageProcessor' };
  return named(await readProcessing(dir), config);
}

/** Python's choice of a processor for files that name none; model types that are not here use ViT's. */
const PROCESSORS: Record<string, string[]> = {
  ConvNext: ['convnext', 'convnextv2', 'resnet', 'regnet', 'van', 'cvt'],
  Bit: ['bit', 'dinov2', 'dinov2_with_registers', 'hiera', 'focalnet'],
  Beit: ['beit', 'data2vec-vision'],
  MobileViT: ['mobilevit', 'mobilevitv2'],
  MobileNetV1: ['mobilenet_v1'],
  MobileNetV2: ['mobilenet_v2'],
  CLIP: [
    'clip',
    'git',
    'groupvit',
    'metaclip_2',
    'mlcd',
    'aimv2',
    'aimv2_vision_model',
    'vipllava',
    'kosmos-2',
  ],
  ChineseCLIP: ['chinese_clip'],
  LayoutLMv3: ['layoutlmv3', 'udop'],
  PromptDepthAnything: ['prompt_depth_anything'],
  DeiT: ['deit'],
  EfficientNet: ['efficientnet', 'align'],
  EfficientFormer: ['efficientformer'],
  Levit: ['levit'],
  PoolFormer: ['poolformer'],
  Pvt: ['pvt', 'pvt_v2'],
  Segformer: ['segformer', 'upernet'],
  Siglip: ['siglip', 'paligemma', 'gemma3n'],
  Siglip2: ['siglip2'],
  Gemma3: ['gemma3'],
  ViTHybrid: ['vit_hybrid'],
  OwlViT: ['owlvit'],
  Owlv2: ['owlv2'],
  GroundingDino: ['grounding-dino', 'mm-grounding-dino'],
  OneFormer: ['oneformer'],
  Eomt: ['eomt'],
  DepthPro: ['depth_pro'],
  ZoeDepth: ['zoedepth'],
  Perceiver: ['perceiver'],
  TextNet: ['textnet'],
  Blip: ['blip', 'blip-2', 'instructblip'],
  Donut: ['donut-swin'],
  MaskFormer: ['maskformer', 'maskformer-swin'],
  Mask2Former: ['mask2former'],
  DPT: ['dpt', 'depth_anything'],
  GLPN: ['glpn'],
  Detr: ['detr', 'table-transformer'],
  ConditionalDetr: ['conditional_detr'],
  DeformableDetr: ['deformable_detr'],
  Yolos: ['yolos'],
  RTDetr: ['rt_detr', 'rt_detr_v2', 'd_fine'],
  RfDetr: ['rf_detr'],
  Sam: ['sam', 'sam_hq'],
  Sam2: ['sam2', 'sam2_video', 'edgetam'],
  DINOv3ViT: ['dinov3_vit'],
  Vilt: ['vilt'],
  Pix2Struct: ['pix2struct'],
  // Refused by name.
  LayoutLMv2: ['layoutlmv2'],
  BridgeTower: ['bridgetower'],
};

function named(processing: Json, config: Json): Json {
  if (processing['image_processor_type'] ?? processing['feature_extractor_type']) return processing;
  const type = String(config['model_type']);
  const found = Object.keys(PROCESSORS).find((name) => PROCESSORS[name]!.includes(type));
  return { ...processing, image_processor_type: `${found ?? 'ViT'}ImageProcessor` };
}

/** preprocessor_config.json, or the image part of the newer processor_config.json. */
async function readProcessing(dir: string): Promise<Record<string, unknown>> {
  const own = await readOptionalJson(dir, 'preprocessor_config.json');
  if (own) return own;
  const combined = await readOptionalJson(dir, 'processor_config.json');
  if (combined) return (combined['image_processor'] ?? combined) as Record<string, unknown>;
  throw new RunError('not_ready', 'the model has no preprocessor_config.json');
}
