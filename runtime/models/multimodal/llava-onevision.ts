import * as z from 'zod';
import { defineFamily } from '../family.js';
import { languageModel, PARTS } from './language-model.js';
import { imageEncoder } from './image-tower.js';
import { llavaConfig, config, squareFeatures, headsOf } from './llava.js';

const onevisionConfig = config.extend({
  text_config: languageModel('qwen2'),
  vision_config: imageEncoder('siglip_vision_model', {
    ...{ hidden_size: 1152, intermediate_size: 4304, num_hidden_layers: 26, num_attention_heads: 16 },
    ...{ patch_size: 14, image_size: 384 },
  }),
  vision_feature_select_strategy: z.enum(['default', 'full']).default('full'),
  vision_feature_layer: llavaConfig.vision_feature_layer.default(-1),
});

/** The same with other defaults. modeling_llava_onevision.py */
export const llavaOnevision = defineFamily({
  modelTypes: ['llava_onevision'],
  readers: { prompts: { image: 'llava-onevision', video: 'llava-onevision' } },
  usualTask: 'image-text-to-text',
  config: onevisionConfig,
  prefixes: [],
  parts: PARTS,
  heads: headsOf(squareFeatures),
});
