import * as z from 'zod';
import { embeddedDecoderRoles } from '../bases/decoder/decoder-heads.js';
import { llamaDecoder } from '../bases/decoder/llama-decoder.js';
import { defineFamily } from '../family.js';
import { compassConfig, compassModel } from '../text/cohere-compass.js';
import { withTie } from './language-model.js';
import { AXES, QWEN_PARTS } from './qwen2-vl/family.js';
import { deepDecoder } from './qwen3-vl/deepstack-decoder.js';
import { interleavedAxes } from './qwen3-vl/interleaved-axes.js';
import { deepLayers, vision3Config, writeDeepEncoder } from './qwen3-vl/vision.js';

const fields = z.object({
  text_config: compassConfig.extend({ tie_word_embeddings: z.boolean().default(false) }).prefault({}),
  vision_config: vision3Config.prefault({}),
});
type Config = z.output<typeof fields>;

const config = z.preprocess((given) => withTie(given as object, false), fields);

/** Pairs of time, height and width where the file does not say. */
const SECTIONS = [24, 20, 20];

const decoderOf = ({ text_config: text, vision_config: vision }: Config) =>
  deepDecoder(
    llamaDecoder(
      compassModel(text, ({ rope_scaling: scaling }, count) =>
        interleavedAxes(scaling ?? undefined, count, SECTIONS),
      ),
    ),
    deepLayers(vision).length,
  );

/** Qwen3-VL's encoder before a language model of Cohere's. modeling_cohere_compass.py */
export const cohereCompass = defineFamily({
  modelTypes: ['cohere_compass'],
  readers: { prompts: { image: 'cohere-compass' } },
  limits: ['Videos are refused.'],
  memory: { unmaskedVision: true },
  usualTask: 'image-text-to-text',
  config,
  ...{ prefixes: [], parts: QWEN_PARTS },
  heads: {
    'media-chat': {
      ...embeddedDecoderRoles<Config>(decoderOf, { axes: AXES }),
      vision_encoder: (g, c: Config) => writeDeepEncoder(g, c.vision_config),
    },
  },
});
