import * as z from 'zod';
import { embeddedDecoderRoles } from '../bases/decoder/decoder-heads.js';
import { llamaConfig, llamaSizes, usualSizes } from '../bases/decoder/llama-config.js';
import { llamaDecoder } from '../bases/decoder/llama-decoder.js';
import { isMixed, mixedLayers, mixture } from '../bases/decoder/mixed-layers.js';
import { size } from '../config-fields.js';
import { defineFamily } from '../family.js';
import { named } from '../inert-fields.js';
import { AXES } from './qwen2-vl/family.js';
import { deepDecoder } from './qwen3-vl/deepstack-decoder.js';
import { interleavedAxes } from './qwen3-vl/interleaved-axes.js';
import { deepLayers, type MergerNames, vision3Config, writeDeepEncoder } from './qwen3-vl/vision.js';
import { OMNI_PARTS } from './qwen2-5-omni.js';

const text = z.object({
  ...llamaConfig,
  ...usualSizes({ vocabulary: 3584, width: 2048, inner: 18_944, layers: 28, heads: 28 }),
  ...{ num_key_value_heads: size.default(4), max_position_embeddings: size.default(32_768) },
  rope_theta: z.number().positive().default(1e6),
  ...mixedLayers,
  num_experts: mixedLayers.num_experts.default(128),
  ...{ num_experts_per_tok: z.int().min(1).max(1024).default(8), norm_topk_prob: z.boolean().default(true) },
  moe_intermediate_size: size.default(768),
});

const config = z.object({ text_config: text.prefault({}), vision_config: vision3Config.prefault({}) });
type Config = z.output<typeof config>;

/** Pairs of time, height and width where the file does not say. */
const SECTIONS = [24, 20, 20];
const MERGERS: MergerNames = { deep: 'merger_list', norm: 'ln_q', wide: 'mlp.0', narrow: 'mlp.2' };

function decoderOf({ text_config: c, vision_config: vision }: Config) {
  const sizes = llamaSizes(c);
  const rotary = { ...c, axes: interleavedAxes(c.rope_scaling ?? undefined, sizes.headWidth / 2, SECTIONS) };
  const mixed = mixture(c, c.moe_intermediate_size);
  const model = llamaDecoder({
    ...{ ...sizes, headNorms: 'head', rotary: () => rotary },
    feedForward: (g, x, at, layer) => (isMixed(c, layer) ? mixed(g, x, at) : undefined),
  });
  return deepDecoder(model, deepLayers(vision).length);
}

const AUDIO = 'audio, which is refused';

/** What thinks in Qwen3-Omni: Qwen3-VL's tower before experts. modeling_qwen3_omni_moe.py */
export const qwen3Omni = defineFamily({
  modelTypes: ['qwen3_omni_moe_thinker'],
  readers: { prompts: { image: 'qwen3-omni' } },
  limits: ['Qwen3-Omni reads images and answers with texts: audio and videos are refused.'],
  inert: [
    { fields: named('audio_config', 'audio_start_token_id', 'audio_end_token_id'), reason: AUDIO },
    { fields: /./, part: 'audio_config', reason: AUDIO },
    { fields: named('position_id_per_seconds'), reason: 'videos, which are refused' },
  ],
  memory: { unmaskedVision: true },
  usualTask: 'image-text-to-text',
  config,
  ...{ prefixes: [], parts: OMNI_PARTS },
  heads: {
    'media-chat': {
      ...embeddedDecoderRoles<Config>(decoderOf, { axes: AXES }),
      vision_encoder: (g, c: Config) => writeDeepEncoder(g, c.vision_config, MERGERS),
    },
  },
});
