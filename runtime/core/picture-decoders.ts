import { cells, edge, type Edges, isObject, type Json, numbers, positive } from './picture-fields.js';
import {
  CONVOLUTION,
  firstStride,
  isStaged,
  layerStates,
  type Part,
  SCORES,
  widthsOf,
} from './picture-stages.js';

/** Where configurations hold those of networks that they are made of. */
const INNER = ['backbone_config', 'vision_config', 'encoder', 'patch_model_config'];

export function innerConfig(config: Json): Json[] {
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
export function heads(config: Json, size: Edges): Part[] {
  const field = (...names: string[]) => names.map((name) => positive(config[name])).find(Boolean);
  const found: Part[] = [];
  const fused = field('fusion_hidden_size');
  // DPT's: half of the channels, in the size of the picture.
  if (fused) found.push({ states: CONVOLUTION * Math.floor(fused / 2) * cells(size, 1) });
  if (isPyramid(config)) found.push(pyramidPart(config, size));
  const decoder = field('decoder_hidden_size');
  if (decoder && isStaged(config)) found.push(stageDecoder(config, size, decoder));
  const [wide, patch, doublings] = [
    field('hidden_size'),
    edge(config['patch_size']),
    field('num_upscale_blocks'),
  ];
  // EoMT's: all channels of the patches, each of which becomes pixels of masks.
  if (wide && patch && doublings)
    found.push({ states: CONVOLUTION * wide * cells(size, patch / 2 ** doublings) });
  const masks = field('mask_feature_size', 'fpn_feature_size');
  if (masks) found.push({ states: MAP * masks * cells(size, 4) });
  const width = field('d_model', 'encoder_hidden_dim') ?? masks;
  if (width && !field('patch_size')) found.push(queryPart(config, size, width));
  return found;
}

/** GLPN decodes to the size of the picture, SegFormer to that of the first stage, to which exports enlarge all others. */
function stageDecoder(config: Json, size: Edges, width: number): Part {
  if (config['model_type'] === 'glpn') return { states: CONVOLUTION * width * cells(size, 1) };
  const map = width * cells(size, 4);
  return { states: MAP * map, exported: 2 * (numbers(config['depths']).length - 1) * map };
}

/** UperNet's head. */
const isPyramid = ({ model_type: type }: Json): boolean => type === 'upernet';

/** All stages in the size of the first one, and the same joined, which become one map. */
function pyramidPart(config: Json, size: Edges): Part {
  const [backbone = RESNET_50] = innerConfig(config);
  const maps = 2 * Math.max(1, widthsOf(backbone).length) + 1;
  return { states: maps * (positive(config['hidden_size']) ?? 512) * cells(size, firstStride(backbone)) };
}

/** Samples of a level before and after they are weighted; exports join those of all levels, and weight them in part. */
const [SAMPLED, JOINED] = [2, 2.5];

/** DETR's encoder over the last stage; where it is deformable, over several. */
function queryPart(config: Json, size: Edges, width: number): Part {
  const inner =
    positive(config['encoder_ffn_dim']) ?? positive(config['encoder_feedforward_dim']) ?? 4 * width;
  const levels = levelsOf(config);
  if (!levels) {
    const tokens = cells(size, 32);
    return { states: tokens * layerStates(width, inner), exported: SCORES * 8 * tokens ** 2 };
  }
  const tokens = Array.from({ length: levels }, (_, i) => cells(size, 8 * 2 ** i)).reduce((a, b) => a + b);
  // Of each level a token reads some points.
  const points = positive(config['encoder_n_points']) ?? 4;
  const whole = (samples: number) =>
    tokens * Math.max(layerStates(width, inner), layerStates(width, 0) + samples * width);
  // Our graphs sample level by level, and add up what was seen in each.
  const states = whole(SAMPLED * points + levels);
  return { states, exported: Math.max(0, whole(JOINED * points * levels) - states) };
}

/** Levels whose tokens are all encoded: RT-DETR's are not, Mask2Former's are all but the finest. */
function levelsOf(config: Json): number {
  if (Array.isArray(config['encode_proj_layers'])) return 0;
  const strides = positive(config['mask_feature_size']) ? numbers(config['feature_strides']).length - 1 : 0;
  return Math.max(0, Math.min(8, positive(config['num_feature_levels']) ?? strides));
}

/** Numbers of the largest output: depths, classes of pixels, masks. */
export function outputs(config: Json, size: Edges): number {
  if (positive(config['fusion_hidden_size']) || config['model_type'] === 'glpn') return cells(size, 1);
  const labels = isObject(config['id2label']) ? Object.keys(config['id2label']).length : 2;
  if (isPyramid(config)) return labels * cells(size, 1);
  if (positive(config['decoder_hidden_size'])) return labels * cells(size, 4);
  const masks = ['mask_feature_size', 'fpn_feature_size', 'num_upscale_blocks'].some((name) =>
    positive(config[name]),
  );
  return masks ? (positive(config['num_queries']) ?? 100) * cells(size, 4) : 0;
}
