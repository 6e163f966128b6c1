import * as z from 'zod';
import { embeddedDecoderRoles } from '../../bases/decoder/decoder-heads.js';
import type { Decoder } from '../../bases/decoder/decoder.js';
import { library } from '../../config-fields.js';
import { defineFamily } from '../../family.js';
import type { GraphWriter } from '../../writer/graph-writer.js';
import { innerConfig } from '../inner-config.js';
import { AXES, QWEN_PARTS } from '../qwen2-vl/family.js';
import { glmText, mixedText, ocrText } from './text.js';
import { glmVision, ocrVision, writeGlmEncoder, writeOcrEncoder } from './vision.js';

interface Config<V> {
  text_config: Decoder;
  vision_config: V;
}

const headsOf = <V>(writeEncoder: (g: GraphWriter, c: V) => void) => ({
  'media-chat': {
    ...embeddedDecoderRoles<Config<V>>((c) => c.text_config, { axes: AXES }),
    vision_encoder: (g: GraphWriter, c: Config<V>) => writeEncoder(g, c.vision_config),
  },
});

const shared = {
  readers: { prompts: { image: 'glm4v' } },
  memory: { unmaskedVision: true },
  usualTask: 'image-text-to-text',
  limits: ['Videos are not read.'],
  ...{ prefixes: [], parts: QWEN_PARTS },
} as const;

/** Qwen2-VL's like: GLM-4 with positions on three axes, and an encoder with a position table. modeling_glm4v.py */
export const glm4v = defineFamily({
  ...shared,
  modelTypes: ['glm4v'],
  config: z.object({ text_config: glmText.prefault({}), vision_config: glmVision.prefault({}) }),
  heads: headsOf(writeGlmEncoder),
});

/** The same network with parts by name. modeling_glm46v.py */
export const glm46v = defineFamily({
  ...shared,
  modelTypes: ['glm46v'],
  config: z.object({
    text_config: innerConfig((type) => (type === 'glm4v_text' ? glmText : undefined), {
      usual: 'glm4v_text',
    }),
    vision_config: innerConfig((type) => (type === 'glm4v_vision' ? glmVision : undefined), {
      usual: 'glm4v_vision',
    }),
  }),
  heads: headsOf(writeGlmEncoder),
});

/** GLM-4.6V's network, whose processor makes other sizes of images. configuration_glmga.py */
export const glmga = defineFamily({
  ...glm46v,
  modelTypes: ['glmga'],
  readers: { prompts: { image: 'glmga' } },
});

/** The same over a mixture of experts. modeling_glm4v_moe.py */
export const glm4vMoe = defineFamily({
  ...shared,
  modelTypes: ['glm4v_moe'],
  config: z.preprocess(
    withVersionInside,
    z.object({ ...library, text_config: mixedText.prefault({}), vision_config: glmVision.prefault({}) }),
  ),
  heads: headsOf(writeGlmEncoder),
});

/** The two versions of transformers choose experts in different ways. */
function withVersionInside(given: unknown): unknown {
  const { text_config: text, transformers_version } = given as Record<string, unknown>;
  const version = transformers_version === undefined ? {} : { transformers_version };
  return { ...(given as object), text_config: { ...(text as object | null | undefined), ...version } };
}

/** The same with heads that are normed, for documents. modeling_glm_ocr.py */
export const glmOcr = defineFamily({
  ...shared,
  modelTypes: ['glm_ocr'],
  config: z.object({
    text_config: ocrText.prefault({}),
    vision_config: ocrVision.prefault({}),
  }),
  heads: headsOf(writeOcrEncoder),
});
