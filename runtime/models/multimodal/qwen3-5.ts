import * as z from 'zod';
import { embeddedDecoderRoles } from '../bases/decoder/decoder-heads.js';
import { llamaDecoder, type LlamaLike } from '../bases/decoder/llama-decoder.js';
import { defineFamily } from '../family.js';
import { qwen35MoeConfig, qwen35MoeModel } from '../text/qwen3-5-moe.js';
import { type Qwen35Config, qwen35Config, qwen35Model, turnedPart } from '../text/qwen3-5.js';
import type { GraphWriter } from '../writer/graph-writer.js';
import { AXES, QWEN_PARTS } from './qwen2-vl/family.js';
import { interleavedAxes } from './qwen3-vl/interleaved-axes.js';
import { vision3Config, writeDeepEncoder } from './qwen3-vl/vision.js';

const vision = vision3Config
  .extend({ deepstack_visual_indexes: z.array(z.int()).max(0, 'are not read by Python').default([]) })
  .prefault({});
type Vision = z.output<typeof vision>;

const config = z.object({ text_config: qwen35Config.prefault({}), vision_config: vision });
const mixed = z.object({ text_config: qwen35MoeConfig.prefault({}), vision_config: vision });

/** Pairs of time, height and width where the file does not say. */
const SECTIONS = [11, 11, 10];

function axesOf(c: Qwen35Config): number[] {
  const width = Math.trunc((c.head_dim ?? c.hidden_size / c.num_attention_heads) * turnedPart(c));
  return interleavedAxes(c.rope_scaling ?? {}, width / 2, SECTIONS);
}

/** What a family of images and of this language model has. */
const over = <T extends Qwen35Config>(modelOf: (c: T, axes: readonly number[]) => LlamaLike) => ({
  usualTask: 'image-text-to-text' as const,
  memory: { unmaskedVision: true },
  ...{ prefixes: [], parts: QWEN_PARTS },
  heads: {
    'media-chat': {
      ...embeddedDecoderRoles<{ text_config: T }>(
        ({ text_config: c }) => llamaDecoder(modelOf(c, axesOf(c))),
        { axes: AXES },
      ),
      vision_encoder: (g: GraphWriter, c: { vision_config: Vision }) => writeDeepEncoder(g, c.vision_config),
    },
  },
});

/** Qwen3-VL's encoder, which gives its last states alone, and a language model that learns associations. modeling_qwen3_5.py */
export const qwen35Images = defineFamily({
  modelTypes: ['qwen3_5'],
  readers: { prompts: { image: 'qwen2-vl', video: 'qwen3-vl' } },
  config,
  ...over(qwen35Model),
});

/** The same over a mixture of experts. modeling_qwen3_5_moe.py */
export const qwen35MoeImages = defineFamily({
  ...{
    modelTypes: ['qwen3_5_moe'],
    readers: { prompts: { image: 'qwen2-vl', video: 'qwen3-vl' } },
    config: mixed,
  },
  ...over(qwen35MoeModel),
});
