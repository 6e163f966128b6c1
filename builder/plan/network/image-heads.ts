import { isObject } from '../../../runtime/hub-config/json.js';
import { cells } from '../../../runtime/core/media-run-memory.js';
import type { ImagePart, ImageSize } from '../../../runtime/core/network.js';
import { edge, type Json, numbers, positive } from './config-fields.js';
import { CONVOLUTION, firstStride, isStaged, layerStates, SCORES, widthsOf } from './image-stages.js';
import { traitsOf } from './traits.js';

/** Where configurations hold those of networks that they are made of. */
const INNER = ['backbone_config', 'vision_config', 'encoder', 'patch_model_config'];

export function innerConfigs(config: Json): Json[] {
  const own = INNER.map((name) => config[name]).filter(isObject);
  const deeper = own.map(({ backbone_config: backbone }) => backbone).filter(isObject);
  // timm's are only named.
  const named = config['use_timm_backbone'] !== false && positive(config['d_model']) && own.length === 0;
  return named ? [RESNET_50] : [...own, ...deeper];
}

const RESNET_50: Json = { model_type: 'resnet', hidden_sizes: [256, 512, 1024, 2048], embedding_size: 64 };

/** Numbers of a map of features that is computed from another one of its size: both, in two layouts. */
const MAP = 4;

/** What stands behind a backbone, and turns its features into pixels, queries or both. */
export function heads(config: Json): ImagePart[] {
  const field = (...names: string[]) => names.map((name) => positive(config[name])).find(Boolean);
  const found: ImagePart[] = [];
  const fused = field('fusion_hidden_size');
  // DPT's: half of the channels, in the size of the image.
  if (fused) found.push({ strides: [1], states: CONVOLUTION * Math.floor(fused / 2) });
  if (traitsOf(config).joinsStages) found.push(pyramidPart(config));
  const decoder = field('decoder_hidden_size');
  if (decoder && isStaged(config)) found.push(stageDecoder(config, decoder));
  const [wide, patch, doublings] = [
    field('hidden_size'),
    edge(config['patch_size']),
    field('num_upscale_blocks'),
  ];
  // EoMT's: all channels of the patches, each of which becomes pixels of masks.
  if (wide && patch && doublings)
    found.push({ strides: [Math.max(1, patch / 2 ** doublings)], states: CONVOLUTION * wide });
  const masks = field('mask_feature_size', 'fpn_feature_size');
  if (masks) found.push({ strides: [4], states: MAP * masks });
  const width = field('d_model', 'encoder_hidden_dim') ?? masks;
  if (width && !field('patch_size')) found.push(queryPart(config, width));
  return found;
}

/** In the size of the first stage, to which exports enlarge all others, or in that of the image. */
function stageDecoder(config: Json, width: number): ImagePart {
  if (traitsOf(config).decodesPixels) return { strides: [1], states: CONVOLUTION * width };
  const joined = 2 * (numbers(config['depths']).length - 1) * width;
  return { strides: [4], states: MAP * width, exported: joined };
}

/** UperNet's head: all stages in the size of the first one, and the same joined, which become one map. */
function pyramidPart(config: Json): ImagePart {
  const [backbone = RESNET_50] = innerConfigs(config);
  const maps = 2 * Math.max(1, widthsOf(backbone).length) + 1;
  return { strides: [firstStride(backbone)], states: maps * (positive(config['hidden_size']) ?? 512) };
}

/** Samples of a level before and after they are weighted; exports join those of all levels, and weight them in part. */
const [SAMPLED, JOINED] = [2, 2.5];

/** DETR's encoder over the last stage; where it is deformable, over several. */
function queryPart(config: Json, width: number): ImagePart {
  const inner =
    positive(config['encoder_ffn_dim']) ?? positive(config['encoder_feedforward_dim']) ?? 4 * width;
  const levels = levelsOf(config);
  if (!levels) return { strides: [32], states: layerStates(width, inner), exportedPairs: SCORES * 8 };
  const strides = Array.from({ length: levels }, (_, i) => 8 * 2 ** i);
  // Of each level a token reads some points.
  const points = positive(config['encoder_n_points']) ?? 4;
  const whole = (samples: number) =>
    Math.max(layerStates(width, inner), layerStates(width, 0) + samples * width);
  // Our graphs sample level by level, and add up what was seen in each.
  const states = whole(SAMPLED * points + levels);
  return { strides, states, exported: Math.max(0, whole(JOINED * points * levels) - states) };
}

/** Levels whose tokens are all encoded: RT-DETR's are not, Mask2Former's are all but the finest. */
function levelsOf(config: Json): number {
  if (Array.isArray(config['encode_proj_layers'])) return 0;
  const strides = positive(config['mask_feature_size']) ? numbers(config['feature_strides']).length - 1 : 0;
  return Math.max(0, Math.min(8, positive(config['num_feature_levels']) ?? strides));
}

/** Numbers of the largest output: depths, classes of pixels, masks. */
export function outputs(config: Json, size: ImageSize): number {
  const { decodesPixels, joinsStages } = traitsOf(config);
  if (positive(config['fusion_hidden_size']) || decodesPixels) return cells(size, 1);
  const labels = isObject(config['id2label']) ? Object.keys(config['id2label']).length : 2;
  if (joinsStages) return labels * cells(size, 1);
  if (positive(config['decoder_hidden_size'])) return labels * cells(size, 4);
  const masks = ['mask_feature_size', 'fpn_feature_size', 'num_upscale_blocks'].some((name) =>
    positive(config[name]),
  );
  return masks ? (positive(config['num_queries']) ?? 100) * cells(size, 4) : 0;
}
