import type { GgufFacts, Json } from '../facts.js';
import { FRAMES, joinedTensors } from './join-tensors.js';
import { type GgufProjector, pixelSettings } from './projector.js';
import type { TowerFacts } from './tower-facts.js';

/** Of all published models, where the file does not say. */
const USUAL = { merge: 2, window: 112, least: 56 * 56, most: 28 * 28 * 16_384 } as const;
const EPSILON = 1e-6;
const BICUBIC = 3;

const mergeOf = (tower: TowerFacts): number => tower.optionalSize('vision.spatial_merge_size') ?? USUAL.merge;

function pixelLimits(tower: TowerFacts): Json {
  const most = 2 ** 31;
  const [min_pixels, max_pixels] = [
    tower.optionalSize('vision.image_min_pixels', most) ?? USUAL.least,
    tower.optionalSize('vision.image_max_pixels', most) ?? USUAL.most,
  ];
  if (min_pixels <= max_pixels) return { min_pixels, max_pixels };
  throw tower.refuse(`has ${min_pixels} as clip.vision.image_min_pixels, more than the most (${max_pixels})`);
}

function visionConfig(tower: TowerFacts): Json {
  const depth = tower.size('vision.block_count');
  const every = tower.size('vision.n_wa_pattern');
  const epsilon = tower.positive('vision.attention.layer_norm_epsilon');
  if (epsilon !== EPSILON)
    throw tower.refuse(`has ${epsilon} as clip.vision.attention.layer_norm_epsilon, not ${EPSILON}`);
  return {
    ...{ model_type: 'qwen2_5_vl', depth, hidden_act: 'silu', in_channels: 3, temporal_patch_size: FRAMES },
    hidden_size: tower.size('vision.embedding_length'),
    intermediate_size: tower.size('vision.feed_forward_length'),
    num_heads: tower.size('vision.attention.head_count'),
    patch_size: tower.size('vision.patch_size'),
    spatial_merge_size: mergeOf(tower),
    out_hidden_size: tower.size('vision.projection_dim'),
    window_size: tower.optionalSize('vision.window_size') ?? USUAL.window,
    fullatt_block_indexes: Array.from({ length: depth }, (_, i) => i).filter((i) => (i + 1) % every === 0),
  };
}

/** How many frequencies turn by time, height and width. @throws WeightsError where the language model does not say */
function sectionsOf(text: GgufFacts): number[] {
  const found = text.value('rope.dimension_sections');
  if (!(found instanceof Int32Array) || found.length < 3 || found.slice(3).some((count) => count !== 0))
    throw text.refuse('has no three counts as qwen2vl.rope.dimension_sections');
  return [...found.slice(0, 3)];
}

/** Pictures of any size, cut into patches. */
export const qwen25Vl: GgufProjector = {
  ...{ modelType: 'qwen2_5_vl', className: 'Qwen2_5_VLForConditionalGeneration', language: 'qwen2vl' },
  ...{ activation: 'use_silu', tokens: [], join: joinedTensors },
  inModel: (name) => name,
  names: {
    'v.patch_embd': 'visual.patch_embed.proj',
    'v.post_ln': 'visual.merger.ln_q',
    'mm.0': 'visual.merger.mlp.0',
    'mm.2': 'visual.merger.mlp.2',
  },
  layers: 'visual.blocks',
  inLayer: {
    ln1: 'norm1',
    ln2: 'norm2',
    attn_qkv: 'attn.qkv',
    attn_out: 'attn.proj',
    ffn_gate: 'mlp.gate_proj',
    ffn_up: 'mlp.up_proj',
    ffn_down: 'mlp.down_proj',
  },
  change: (_, name) => (name === 'v.patch_embd.weight' ? { kind: 'frames', count: FRAMES } : undefined),
  keys: [
    ...['vision.n_wa_pattern', 'vision.window_size', 'vision.spatial_merge_size'],
    ...['vision.image_min_pixels', 'vision.image_max_pixels'],
  ],
  config(tower, { facts, config, tokenId }) {
    if (config['rope_scaling'] !== null)
      throw facts.refuse('scales its positions, which are counted on three axes');
    return {
      text_config: {
        ...{ ...config, model_type: 'qwen2_5_vl_text' },
        rope_scaling: { type: 'default', rope_type: 'default', mrope_section: sectionsOf(facts) },
      },
      vision_config: visionConfig(tower),
      image_token_id: tokenId('<|image_pad|>'),
      video_token_id: tokenId('<|video_pad|>'),
      vision_start_token_id: tokenId('<|vision_start|>'),
      vision_end_token_id: tokenId('<|vision_end|>'),
      tie_word_embeddings: config['tie_word_embeddings'],
    };
  },
  processing: (tower) => ({
    ...{ image_processor_type: 'Qwen2VLImageProcessor', ...pixelSettings(tower), ...pixelLimits(tower) },
    ...{ resample: BICUBIC, patch_size: tower.size('vision.patch_size'), temporal_patch_size: FRAMES },
    merge_size: mergeOf(tower),
  }),
  processor: () => ({ processor_class: 'Qwen2_5_VLProcessor' }),
};
