import * as z from 'zod';
import { defineFamily } from '../family.js';
import { embeddedDecoderRoles } from '../bases/decoder/decoder-heads.js';
import type { GraphWriter } from '../writer/graph-writer.js';
import { epsilon } from '../config-fields.js';
import { languageModel, PARTS } from './language-model.js';
import { withNormEpsilon, writeMergedFeatures } from './merged-patches.js';
import { layerNumber } from './llava.js';
import { imageEncoder } from './image-tower.js';

/** What Python's class takes for a language model that is left out. */
const TEXT = {
  ...{ head_dim: 128, hidden_size: 5120, intermediate_size: 32_768, max_position_embeddings: 131_072 },
  ...{ num_attention_heads: 32, num_hidden_layers: 40, num_key_value_heads: 8, rms_norm_eps: 1e-5 },
  ...{ rope_theta: 1e9, sliding_window: null, vocab_size: 131_072 },
};

const fields = z.object({
  text_config: languageModel('mistral', TEXT),
  /** That of the language model's norms. */
  norm_eps: epsilon.default(1e-6),
  vision_config: imageEncoder('pixtral', { patch_size: 14, image_size: 1540 }),
  projector_hidden_act: z.string().default('gelu'),
  multimodal_projector_bias: z.boolean().default(false),
  spatial_merge_size: z.int().min(1).max(64).default(2),
  vision_feature_layer: z.int().min(-1024).max(1024).default(-1),
});
type Config = z.output<typeof fields>;

const config = z.preprocess((given) => withNormEpsilon(given, TEXT), fields);

/** `image_features` [features, width] of one image, whose neighbouring patches are merged. */
function writeEncoder(g: GraphWriter, c: Config): void {
  const { vision_config: tower, text_config: text, spatial_merge_size: edge } = c;
  writeMergedFeatures(g, {
    ...{ tower, to: text.width, edge, number: layerNumber(tower, c.vision_feature_layer) },
    ...{ epsilon: c.norm_eps, act: c.projector_hidden_act, bias: c.multimodal_projector_bias },
  });
}

/** A language model that reads images of any size, squares of patches as one. modeling_mistral3.py */
export const mistral3 = defineFamily({
  modelTypes: ['mistral3'],
  readers: { prompts: { image: 'pixtral' } },
  memory: { unmaskedVision: true },
  usualTask: 'image-text-to-text',
  config,
  prefixes: [],
  parts: PARTS,
  heads: {
    'media-chat': {
      ...embeddedDecoderRoles<Config>((c) => c.text_config),
      vision_encoder: writeEncoder,
    },
  },
});
