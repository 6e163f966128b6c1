import * as z from 'zod';
import { embeddedDecoderRoles } from '../bases/decoder/decoder-heads.js';
import { size } from '../config-fields.js';
import { defineFamily } from '../family.js';
import type { GraphWriter } from '../writer/graph-writer.js';
import { joinedSquares, writeGatedFeatures } from './aya-vision.js';
import { imageEncoder } from './image-tower.js';
import { languageModel, PARTS } from './language-model.js';

const config = z.object({
  text_config: languageModel('cohere2'),
  vision_config: imageEncoder('siglip_vision_model', {
    ...{ hidden_size: 1152, intermediate_size: 3072, num_hidden_layers: 27, num_attention_heads: 12 },
    ...{ image_size: 512 },
  }),
  downsample_factor: z.int().min(1).max(64).default(2),
  alignment_intermediate_size: size.default(36_864),
});
type Config = z.output<typeof config>;

function writeEncoder(g: GraphWriter, c: Config): void {
  const { vision_config: tower, downsample_factor: factor } = c;
  const seen = tower.finish(g, tower.states(g, tower.layers).at(-1)!);
  const joined = joinedSquares(g, tower, factor, seen);
  const sizes = { from: tower.width * factor * factor, to: c.text_config.width };
  writeGatedFeatures(g, joined, { ...sizes, inner: c.alignment_intermediate_size });
}

/** Aya Vision's like, without a norm before its projector. modeling_cohere2_vision.py */
export const cohere2Vision = defineFamily({
  modelTypes: ['cohere2_vision'],
  readers: { prompts: { image: 'cohere2-vision' } },
  usualTask: 'image-text-to-text',
  limits: ['Images are cut as transformers 5 cuts them; 4.57 takes their height for their width there.'],
  config,
  ...{ prefixes: [], parts: PARTS },
  heads: {
    'media-chat': {
      ...embeddedDecoderRoles<Config>((c) => c.text_config),
      vision_encoder: writeEncoder,
    },
  },
});
