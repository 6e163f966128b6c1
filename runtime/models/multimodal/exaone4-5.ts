import * as z from 'zod';
import { embeddedDecoderRoles } from '../bases/decoder/decoder-heads.js';
import { size } from '../config-fields.js';
import { defineFamily } from '../family.js';
import { languageModel } from './language-model.js';
import { vision25Config, vision25Model, writePatchEncoder } from './qwen2-vl/vision.js';

const config = z.object({
  text_config: languageModel('exaone4'),
  vision_config: vision25Config
    .extend({ num_key_value_heads: size.default(8) })
    .refine((c) => c.num_heads % c.num_key_value_heads === 0, {
      ...{ message: 'is no divisor of num_heads', path: ['num_key_value_heads'] },
    })
    .prefault({}),
});
type Config = z.output<typeof config>;

/** Qwen2.5-VL's encoder, whose heads share keys, before EXAONE 4, which counts positions on one axis. modeling_exaone4_5.py */
export const exaone45 = defineFamily({
  modelTypes: ['exaone4_5'],
  readers: { prompts: { image: 'flat-patches' } },
  usualTask: 'image-text-to-text',
  limits: ['Videos are not read.'],
  config,
  prefixes: [],
  parts: {
    'model.': ['model.language_model.', 'language_model.'],
    'visual.': ['model.visual.', 'visual.'],
  },
  heads: {
    'media-chat': {
      ...embeddedDecoderRoles<Config>((c) => c.text_config),
      vision_encoder: (g, { vision_config: c }: Config) =>
        writePatchEncoder(g, { ...vision25Model(c), keyHeads: c.num_key_value_heads }),
    },
  },
});
