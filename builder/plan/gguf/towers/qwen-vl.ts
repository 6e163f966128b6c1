import type { GgufFacts, Json } from '../facts.js';
import { FRAMES, joinedTensors } from './join-tensors.js';
import { type GgufProjector, innerWidth, pixelSettings, type TextFacts } from './projector.js';
import type { TowerFacts } from './tower-facts.js';

/** Of all published models, where the file does not say. */
const USUAL = { merge: 2, window: 112 } as const;
const LIMITS = { least: 56 * 56, most: 28 * 28 * 16_384 } as const;
const EPSILON = 1e-6;
const BICUBIC = 3;

const mergeOf = (tower: TowerFacts): number => tower.optionalSize('vision.spatial_merge_size') ?? USUAL.merge;

/** Pixels of an image at least and at most. */
export type PixelLimits = Readonly<Record<'least' | 'most', number>>;

function pixelLimits(tower: TowerFacts, usual: PixelLimits): Json {
  const most = 2 ** 31;
  const [min_pixels, max_pixels] = [
    tower.optionalSize('vision.image_min_pixels', most) ?? usual.least,
    tower.optionalSize('vision.image_max_pixels', most) ?? usual.most,
  ];
  if (min_pixels <= max_pixels) return { min_pixels, max_pixels };
  throw tower.refuse(`has ${min_pixels} as clip.vision.image_min_pixels, more than the most (${max_pixels})`);
}

/** Fields of all, whose norms have an epsilon of their own in Python. */
export function visionFields(tower: TowerFacts): Json {
  const epsilon = tower.positive('vision.attention.layer_norm_epsilon');
  if (epsilon !== EPSILON)
    throw tower.refuse(`has ${epsilon} as clip.vision.attention.layer_norm_epsilon, not ${EPSILON}`);
  return {
    ...{ in_channels: 3, temporal_patch_size: FRAMES },
    depth: tower.size('vision.block_count'),
    num_heads: tower.size('vision.attention.head_count'),
    patch_size: tower.size('vision.patch_size'),
    spatial_merge_size: mergeOf(tower),
  };
}

/** Files have another number as the inner width of layers: the width of the language model. */
function vision2Config(tower: TowerFacts): Json {
  const width = tower.size('vision.embedding_length');
  return {
    ...{ model_type: 'qwen2_vl', ...visionFields(tower), hidden_act: 'quick_gelu' },
    ...{ embed_dim: width, mlp_ratio: innerWidth(tower) / width },
    hidden_size: tower.size('vision.projection_dim'),
  };
}

function vision25Config(tower: TowerFacts): Json {
  const every = tower.size('vision.n_wa_pattern');
  const layers = Array.from({ length: tower.size('vision.block_count') }, (_, i) => i);
  return {
    ...{ model_type: 'qwen2_5_vl', ...visionFields(tower), hidden_act: 'silu' },
    hidden_size: tower.size('vision.embedding_length'),
    intermediate_size: tower.size('vision.feed_forward_length'),
    out_hidden_size: tower.size('vision.projection_dim'),
    window_size: tower.optionalSize('vision.window_size') ?? USUAL.window,
    fullatt_block_indexes: layers.filter((i) => (i + 1) % every === 0),
  };
}

/** How many frequencies turn by time, height and width. @throws WeightsError where the language model does not say */
function sectionsOf(text: GgufFacts): number[] {
  const found = text.value('rope.dimension_sections');
  if (!(found instanceof Int32Array) || found.length < 3 || found.slice(3).some((count) => count !== 0))
    throw text.refuse(`has no three counts as ${text.architecture}.rope.dimension_sections`);
  return [...found.slice(0, 3)];
}

export interface PositionsOnAxes {
  type: string;
  vision: Json;
  text: TextFacts;
  /** Whether frequencies of the three axes take turns. */
  interleaved?: boolean;
}

/** config.json of a model whose positions are counted on three axes. */
export function positionsConfig({ type, vision, text, interleaved }: PositionsOnAxes): Json {
  const { facts, config, tokenId } = text;
  if (config['rope_scaling'] !== null)
    throw facts.refuse('scales its positions, which are counted on three axes');
  return {
    text_config: {
      ...{ ...config, model_type: `${type}_text` },
      rope_scaling: {
        ...{ type: 'default', rope_type: 'default', mrope_section: sectionsOf(facts) },
        ...(interleaved ? { mrope_interleaved: true } : {}),
      },
    },
    vision_config: vision,
    image_token_id: tokenId('<|image_pad|>'),
    video_token_id: tokenId('<|video_pad|>'),
    vision_start_token_id: tokenId('<|vision_start|>'),
    vision_end_token_id: tokenId('<|vision_end|>'),
    tie_word_embeddings: config['tie_word_embeddings'],
  };
}

const LAYER = { ln1: 'norm1', ln2: 'norm2', attn_qkv: 'attn.qkv', attn_out: 'attn.proj' } as const;
export const PATCH_KEYS = ['vision.spatial_merge_size', 'vision.image_min_pixels', 'vision.image_max_pixels'];

/** Images of any size, cut into patches. */
export const patches = (limits: PixelLimits) =>
  ({
    ...{ medium: 'vision', languages: ['qwen2vl'], tokens: [], join: joinedTensors, inModel: (name) => name },
    names: {
      'v.patch_embd': 'visual.patch_embed.proj',
      'v.post_ln': 'visual.merger.ln_q',
      'mm.0': 'visual.merger.mlp.0',
      'mm.2': 'visual.merger.mlp.2',
    },
    layers: 'visual.blocks',
    change: (_, name) => (name === 'v.patch_embd.weight' ? { kind: 'frames', count: FRAMES } : undefined),
    processing: (tower) => ({
      ...{
        image_processor_type: 'Qwen2VLImageProcessor',
        ...pixelSettings(tower),
        ...pixelLimits(tower, limits),
      },
      ...{ resample: BICUBIC, patch_size: tower.size('vision.patch_size'), temporal_patch_size: FRAMES },
      merge_size: mergeOf(tower),
    }),
  }) satisfies Partial<GgufProjector>;

export const qwen2Vl: GgufProjector = {
  ...{ ...patches(LIMITS), modelType: 'qwen2_vl', className: 'Qwen2VLForConditionalGeneration' },
  keys: PATCH_KEYS,
  // Neither GELU nor SiLU is said of what is computed by quick GELU.
  activations: [],
  inLayer: { ...LAYER, ffn_up: 'mlp.fc1', ffn_down: 'mlp.fc2' },
  config: (tower, text) => positionsConfig({ type: 'qwen2_vl', vision: vision2Config(tower), text }),
  processor: () => ({ processor_class: 'Qwen2VLProcessor' }),
};

/** The same with windows in most layers of the encoder. */
export const qwen25Vl: GgufProjector = {
  ...{ ...patches(LIMITS), modelType: 'qwen2_5_vl', className: 'Qwen2_5_VLForConditionalGeneration' },
  ...{ activations: ['use_silu'], keys: [...PATCH_KEYS, 'vision.n_wa_pattern', 'vision.window_size'] },
  inLayer: { ...LAYER, ffn_gate: 'mlp.gate_proj', ffn_up: 'mlp.up_proj', ffn_down: 'mlp.down_proj' },
  config: (tower, text) => positionsConfig({ type: 'qwen2_5_vl', vision: vision25Config(tower), text }),
  processor: () => ({ processor_class: 'Qwen2_5_VLProcessor' }),
};
