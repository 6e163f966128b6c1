import type { GgufFacts, Json } from '../facts.js';
import { type GgufProjector, pixelSettings, type TextFacts } from './projector.js';
import type { TowerFacts } from './tower-facts.js';

/** Of the encoder's norms, which Python has no field for. */
const EPSILON = 1e-5;
const BICUBIC = 3;
const THETA = 10_000;
/** Patches along an edge of a square that LightOnOCR joins, where the file does not say. */
const JOINED = 2;
/** The token behind each line of an image: a row of the language model's table, which files of GGUF have twice. */
const LINE_END = 'v.token_embd.img_break';

const mergeOf = (tower: TowerFacts, usual: number): number =>
  tower.optionalSize('vision.spatial_merge_size') ?? usual;

function visionConfig(tower: TowerFacts): Json {
  const epsilon = tower.positive('vision.attention.layer_norm_epsilon');
  if (epsilon !== EPSILON)
    throw tower.refuse(`has ${epsilon} as clip.vision.attention.layer_norm_epsilon, not ${EPSILON}`);
  return {
    ...{ model_type: 'pixtral', num_channels: 3 },
    hidden_size: tower.size('vision.embedding_length'),
    intermediate_size: tower.size('vision.feed_forward_length'),
    num_hidden_layers: tower.size('vision.block_count'),
    num_attention_heads: tower.size('vision.attention.head_count'),
    image_size: tower.size('vision.image_size'),
    patch_size: tower.size('vision.patch_size'),
    hidden_act: tower.value('use_silu') === true ? 'silu' : 'gelu',
    rope_theta: tower.value('rope.freq_base') === undefined ? THETA : tower.positive('rope.freq_base'),
  };
}

/** All but the token behind lines. */
function withoutLineEnd(tower: TowerFacts): TowerFacts['tensors'] {
  const found = new Map(tower.tensors);
  const given = found.get(LINE_END);
  if (given && String(given.shape) !== String([tower.size('vision.projection_dim')]))
    throw tower.refuse(`has ${LINE_END} of the sizes [${given.shape.join(', ')}]`);
  found.delete(LINE_END);
  return found;
}

/** Rows of queries and keys stand in pairs, as in Llama. */
const turned = (tower: GgufFacts, name: string) =>
  /\.attn_[qk]\.weight$/.test(name)
    ? ({ kind: 'rows', heads: tower.count('vision.attention.head_count') } as const)
    : undefined;

function configOf(tower: TowerFacts, { config, modelType, tokenId }: TextFacts): Json {
  ['[IMG_BREAK]', '[IMG_END]'].forEach(tokenId);
  return {
    text_config: { model_type: modelType, ...config },
    vision_config: visionConfig(tower),
    image_token_index: tokenId('[IMG]'),
    projector_hidden_act: 'gelu',
    multimodal_projector_bias: tower.has('mm.1.bias'),
    tie_word_embeddings: config['tie_word_embeddings'],
  };
}

/** Images that keep their form, up to a longest edge: of all published models that of the encoder. */
const images = {
  ...{ activations: ['use_gelu', 'use_silu'], tokens: [], join: withoutLineEnd, change: turned },
  ...{ medium: 'vision', languages: ['llama', 'mistral3'] },
  inModel: (name) => `language_model.${name}`,
  names: {
    'v.patch_embd': 'vision_tower.patch_conv',
    'v.pre_ln': 'vision_tower.ln_pre',
    'mm.input_norm': 'multi_modal_projector.norm',
    'mm.patch_merger': 'multi_modal_projector.patch_merger.merging_layer',
    'mm.1': 'multi_modal_projector.linear_1',
    'mm.2': 'multi_modal_projector.linear_2',
  },
  layers: 'vision_tower.transformer.layers',
  inLayer: {
    ...{ ln1: 'attention_norm', ln2: 'ffn_norm' },
    ...{ attn_q: 'attention.q_proj', attn_k: 'attention.k_proj', attn_v: 'attention.v_proj' },
    attn_out: 'attention.o_proj',
    ffn_gate: 'feed_forward.gate_proj',
    ffn_up: 'feed_forward.up_proj',
    ffn_down: 'feed_forward.down_proj',
  },
  keys: ['vision.spatial_merge_size', 'rope.freq_base'],
  processing(tower) {
    const patch = tower.size('vision.patch_size');
    return {
      ...{ image_processor_type: 'PixtralImageProcessor', ...pixelSettings(tower), resample: BICUBIC },
      size: { longest_edge: tower.size('vision.image_size') },
      patch_size: { height: patch, width: patch },
    };
  },
} satisfies Partial<GgufProjector>;

const processorOf = (tower: TowerFacts, name: string, usual: number): Json => ({
  ...{ processor_class: name, patch_size: tower.size('vision.patch_size') },
  spatial_merge_size: mergeOf(tower, usual),
});

/** Of single patches. */
export const pixtral: GgufProjector = {
  ...{ ...images, modelType: 'llava', className: 'LlavaForConditionalGeneration' },
  config(tower, text) {
    const merge = mergeOf(tower, 1);
    if (merge !== 1)
      throw tower.refuse(`has ${merge} as clip.vision.spatial_merge_size, and no mm.patch_merger.weight`);
    return {
      ...configOf(tower, text),
      ...{ vision_feature_layer: -1, vision_feature_select_strategy: 'full' },
    };
  },
  processor: (tower) => processorOf(tower, 'PixtralProcessor', 1),
};

/** Squares of patches as one. */
export const mistral3: GgufProjector = {
  ...{ ...images, modelType: 'mistral3', className: 'Mistral3ForConditionalGeneration' },
  config: (tower, text) => ({
    ...configOf(tower, text),
    ...{ spatial_merge_size: tower.size('vision.spatial_merge_size'), vision_feature_layer: -1 },
  }),
  processor: (tower) => processorOf(tower, 'PixtralProcessor', 1),
};

const renamed = (names: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(names).map(([name, to]) => [
      name,
      to
        .replace('vision_tower.', 'model.vision_encoder.')
        .replace('multi_modal_projector.', 'model.vision_projection.'),
    ]),
  );

/** The same of Qwen 3, without tokens between lines. */
export const lightOnOcr: GgufProjector = {
  ...{ ...images, modelType: 'lighton_ocr', className: 'LightOnOcrForConditionalGeneration' },
  ...{ languages: ['qwen3'], layers: 'model.vision_encoder.transformer.layers' },
  names: renamed(images.names),
  config: (tower, { config, modelType, tokenId }) => ({
    text_config: { model_type: modelType, ...config },
    vision_config: visionConfig(tower),
    spatial_merge_size: mergeOf(tower, JOINED),
    image_token_id: tokenId('<|image_pad|>'),
    tie_word_embeddings: config['tie_word_embeddings'],
  }),
  processor: (tower) => processorOf(tower, 'LightOnOcrProcessor', JOINED),
};
