import { featureEdge, type GgufProjector, pixelSettings, SIGLIP_LAYER, siglipConfig } from './projector.js';
import { lightOnOcr, mistral3, pixtral } from './pixtral.js';
import { qwen25Vl, qwen2Vl } from './qwen-vl.js';
import { qwen3Vl } from './qwen3-vl.js';
import { qwen2Audio, voxtral } from './whisper.js';
import type { TowerFacts } from './tower-facts.js';

const scale = (tower: TowerFacts, usual: number): number =>
  tower.optionalSize('vision.projector.scale_factor') ?? usual;

/** Patches along an edge that Gemma 3 takes the mean of, where the file does not say. */
const POOLED = 4;
const BILINEAR = 2;

const gemma3Edge = (tower: TowerFacts): number => featureEdge(tower, scale(tower, POOLED));

/** Gemma 3 with images. Settings that no metadata have are those of all its published models. */
const gemma3: GgufProjector = {
  ...{
    medium: 'vision',
    modelType: 'gemma3',
    className: 'Gemma3ForConditionalGeneration',
    languages: ['gemma3'],
  },
  ...{ activations: ['use_gelu'], inLayer: SIGLIP_LAYER, tokens: ['<image_soft_token>'] },
  inModel: (name) => `language_model.${name}`,
  names: {
    'v.patch_embd': 'vision_tower.vision_model.embeddings.patch_embedding',
    'v.position_embd': 'vision_tower.vision_model.embeddings.position_embedding',
    'v.post_ln': 'vision_tower.vision_model.post_layernorm',
    'mm.soft_emb_norm': 'multi_modal_projector.mm_soft_emb_norm',
    'mm.input_projection.weight': 'multi_modal_projector.mm_input_projection_weight',
  },
  layers: 'vision_tower.vision_model.encoder.layers',
  change: (_, name) => (name === 'mm.soft_emb_norm.weight' ? { kind: 'add', value: -1 } : undefined),
  keys: ['vision.projector.scale_factor'],
  config: (tower, { config, tokenId }) => ({
    text_config: { model_type: 'gemma3_text', ...config },
    vision_config: { model_type: 'siglip_vision_model', ...siglipConfig(tower) },
    mm_tokens_per_image: gemma3Edge(tower) ** 2,
    boi_token_index: tokenId('<start_of_image>'),
    eoi_token_index: tokenId('<end_of_image>'),
    image_token_index: tokenId('<image_soft_token>'),
    tie_word_embeddings: config['tie_word_embeddings'],
  }),
  processing(tower) {
    const edge = tower.size('vision.image_size');
    return {
      ...{ image_processor_type: 'Gemma3ImageProcessor', ...pixelSettings(tower) },
      ...{ resample: BILINEAR, size: { height: edge, width: edge } },
    };
  },
  processor: (tower) => ({
    ...{ processor_class: 'Gemma3Processor', image_seq_length: gemma3Edge(tower) ** 2 },
  }),
};

/** Patches along an edge that Idefics3 joins, where the file does not say. */
const JOINED = 2;
const LANCZOS = 1;
/** Squares along the longer edge of an image, where the file does not say: the library's default, and of all published models. */
const SQUARES = 4;

const AROUND_SQUARES = ['<fake_token_around_image>', '<global-img>', '<row_1_col_1>'];

/** Idefics3 and SmolVLM, which read images alike. Large ones are cut into squares, as in all of their published models. */
const idefics3: GgufProjector = {
  ...{
    medium: 'vision',
    modelType: 'idefics3',
    className: 'Idefics3ForConditionalGeneration',
    languages: ['llama'],
  },
  ...{ activations: ['use_gelu'], inLayer: SIGLIP_LAYER, tokens: [] },
  inModel: (name) => name.replace(/^model\./, 'model.text_model.'),
  names: {
    'v.patch_embd': 'model.vision_model.embeddings.patch_embedding',
    'v.position_embd': 'model.vision_model.embeddings.position_embedding',
    'v.post_ln': 'model.vision_model.post_layernorm',
    'mm.model.fc': 'model.connector.modality_projection.proj',
  },
  layers: 'model.vision_model.encoder.layers',
  keys: ['vision.projector.scale_factor', 'vision.preproc_image_size'],
  config(tower, { config, tokenId }) {
    AROUND_SQUARES.forEach(tokenId);
    return {
      text_config: { model_type: 'llama', ...config },
      vision_config: { model_type: 'idefics3_vision', ...siglipConfig(tower) },
      scale_factor: scale(tower, JOINED),
      image_token_id: tokenId('<image>'),
      tie_word_embeddings: config['tie_word_embeddings'],
    };
  },
  processing: (tower) => ({
    ...{ image_processor_type: 'Idefics3ImageProcessor', ...pixelSettings(tower) },
    ...{ do_image_splitting: true, do_pad: true, resample: LANCZOS },
    size: {
      longest_edge:
        tower.optionalSize('vision.preproc_image_size') ?? SQUARES * tower.size('vision.image_size'),
    },
    max_image_size: { longest_edge: tower.size('vision.image_size') },
  }),
  processor: (tower) => ({
    ...{ processor_class: 'Idefics3Processor', image_seq_len: featureEdge(tower, scale(tower, JOINED)) ** 2 },
  }),
};

/** By `clip.projector_type`. */
export const PROJECTORS: Readonly<Record<string, (tower: TowerFacts) => GgufProjector>> = {
  gemma3: () => gemma3,
  idefics3: () => idefics3,
  lightonocr: () => lightOnOcr,
  pixtral: (tower) => (tower.has('mm.patch_merger.weight') ? mistral3 : pixtral),
  qwen2vl_merger: () => qwen2Vl,
  'qwen2.5vl_merger': () => qwen25Vl,
  qwen3vl_merger: qwen3Vl,
  qwen2a: () => qwen2Audio,
  voxtral: () => voxtral,
};
