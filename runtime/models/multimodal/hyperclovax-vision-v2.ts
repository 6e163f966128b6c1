import * as z from 'zod';
import { embeddedDecoderRoles } from '../bases/decoder/decoder-heads.js';
import { defineFamily } from '../family.js';
import { linear } from '../layers/linear.js';
import { hyperclovax } from '../text/hyperclovax.js';
import type { GraphWriter } from '../writer/graph-writer.js';
import { innerConfig } from './inner-config.js';
import { patchFeatures, vision25Config, vision25Model } from './qwen2-vl/vision.js';

const text = hyperclovax.config.transform((c) => hyperclovax.decoder!(c));

const config = z.object({
  // Python multiplies the scores by a field that this type has.
  text_config: innerConfig((type) => (type === 'hyperclovax' ? text : undefined), { usual: 'hyperclovax' }),
  vision_config: vision25Config
    .extend({ model_type: z.literal('qwen2_5_vl').default('qwen2_5_vl') })
    .prefault({}),
});
type Config = z.output<typeof config>;

function writeEncoder(g: GraphWriter, { vision_config: vision, text_config: { width } }: Config): void {
  const model = vision25Model(vision);
  const features = linear(g, patchFeatures(g, model), 'projector', { from: model.to, to: width });
  g.output('image_features', features, 'float32', ['features', width]);
}

/** Qwen2.5-VL's encoder before HyperCLOVA X, which counts positions on one axis. modeling_hyperclovax_vision_v2.py */
export const hyperclovaxVision = defineFamily({
  modelTypes: ['hyperclovax_vision_v2'],
  readers: { prompts: { image: 'flat-patches' } },
  usualTask: 'image-text-to-text',
  limits: ['Videos are not read.'],
  config,
  prefixes: [],
  parts: {
    'model.': ['model.language_model.model.', 'model.language_model.', 'language_model.model.'],
    'lm_head.': ['model.language_model.lm_head.', 'lm_head.'],
    'visual.': ['model.vision_model.', 'vision_model.'],
    'projector.': ['model.vision_projector.', 'model.projector.'],
  },
  heads: {
    'media-chat': {
      ...embeddedDecoderRoles<Config>((c) => c.text_config),
      vision_encoder: writeEncoder,
    },
  },
});
