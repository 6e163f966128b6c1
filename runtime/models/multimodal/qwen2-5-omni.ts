import * as z from 'zod';
import { embeddedDecoderRoles } from '../bases/decoder/decoder-heads.js';
import { usualSizes } from '../bases/decoder/llama-config.js';
import { epsilon, size } from '../config-fields.js';
import { defineFamily } from '../family.js';
import { named } from '../inert-fields.js';
import { AXES, decoderOf, textConfig } from './qwen2-vl/family.js';
import { vision25Config, vision25Model, writePatchEncoder } from './qwen2-vl/vision.js';

/** Pairs of time, height and width where the file does not say. */
const SECTIONS = [16, 24, 24];

const text = textConfig.extend({
  ...usualSizes({ vocabulary: 152_064, width: 3584, inner: 18_944, layers: 28, heads: 28 }),
  ...{ num_key_value_heads: size.nullable().default(4), rms_norm_eps: epsilon.default(1e-6) },
  ...{
    rope_scaling: textConfig.shape.rope_scaling.default({
      ...{ mrope_section: SECTIONS, rope_type: 'default', type: 'default' },
    }),
    sliding_window: z.int().min(1).nullable().default(32_768),
    max_window_layers: z.int().min(0).default(28),
  },
});

const config = z.object({ text_config: text.prefault({}), vision_config: vision25Config.prefault({}) });
type Config = z.output<typeof config>;

const AUDIO = ['audio_config', 'audio_start_token_id', 'audio_end_token_id'];
const AUDIO_REASON = 'audio, which is refused';
const CLIPS = ['position_id_per_seconds', 'seconds_per_chunk'];

/** Beginnings of names in files of the whole model, and of this part alone. */
const from = (...names: string[]): string[] => names.flatMap((name) => [`thinker.${name}`, name]);

export const OMNI_PARTS = {
  'model.': from('model.language_model.', 'model.'),
  'lm_head.': from('lm_head.'),
  'visual.': from('model.visual.', 'visual.'),
};

/** What thinks in Qwen2.5-Omni: Qwen2.5-VL whose encoder has its projections apart. modeling_qwen2_5_omni.py */
export const qwen25Omni = defineFamily({
  modelTypes: ['qwen2_5_omni_thinker'],
  readers: { prompts: { image: 'qwen2-5-omni' } },
  limits: ['Qwen2.5-Omni reads images and answers with texts: audio and videos are refused.'],
  inert: [
    { fields: named(...AUDIO), reason: AUDIO_REASON },
    { fields: /./, part: 'audio_config', reason: AUDIO_REASON },
    { fields: named(...CLIPS), reason: 'videos, which are refused; images have one step over time' },
  ],
  usualTask: 'image-text-to-text',
  config,
  prefixes: [],
  parts: OMNI_PARTS,
  heads: {
    'media-chat': {
      ...embeddedDecoderRoles<Config>((c) => decoderOf(c.text_config, SECTIONS), { axes: AXES }),
      vision_encoder: (g, { vision_config: c }: Config) =>
        writePatchEncoder(g, { ...vision25Model(c), apart: ['q', 'k', 'v'] }),
    },
  },
});
