import * as z from 'zod';
import { defineFamily } from '../family.js';
import { GraphError } from '../writer/errors.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { imageEncoder } from './image-tower.js';
import { PARTS } from './language-model.js';
import { headsOf, llavaConfig, type LlavaConfig, imageFeatures } from './llava.js';

const config = z.object({
  ...llavaConfig,
  vision_config: imageEncoder('clip_vision_model', {
    ...{ hidden_size: 1024, intermediate_size: 4096, num_hidden_layers: 24, num_attention_heads: 16 },
    ...{ patch_size: 14, image_size: 224 },
  }),
});

function features(g: GraphWriter, c: LlavaConfig): Value {
  if (c.vision_config.classes !== 1)
    throw new GraphError('config.json: vision_config has no class token; only CLIP is read by this model');
  return imageFeatures(g, c);
}

/** LLaVA with a tower for images and another one for frames, which is left out. modeling_video_llava.py */
export const videoLlava = defineFamily({
  modelTypes: ['video_llava'],
  readers: { processor: 'CLIP', prompts: { image: 'video-llava' } },
  memory: { unmaskedVision: true },
  usualTask: 'image-text-to-text',
  limits: ['Images are read; videos are refused.'],
  config,
  prefixes: [],
  parts: {
    ...PARTS,
    'vision_model.': [
      ...['model.image_tower.vision_model.', 'image_tower.vision_model.'],
      ...['model.image_tower.', 'image_tower.'],
    ],
  },
  heads: headsOf(features),
});
