import * as z from 'zod';
import { embeddedDecoderRoles } from '../bases/decoder/decoder-heads.js';
import type { Decoder } from '../bases/decoder/decoder.js';
import { llamaDecoder } from '../bases/decoder/llama-decoder.js';
import { defineFamily } from '../family.js';
import { type Qwen35Config, qwen35Config, qwen35Model, turnedPart } from '../text/qwen3-5.js';
import type { GraphWriter } from '../writer/graph-writer.js';
import { AXES, QWEN_PARTS } from './qwen2-vl/family.js';
import { interleavedAxes } from './qwen3-vl/interleaved-axes.js';
import { vision3Config, writeDeepEncoder } from './qwen3-vl/vision.js';

const config = z.object({
  text_config: qwen35Config.prefault({}),
  vision_config: vision3Config
    .extend({ deepstack_visual_indexes: z.array(z.int()).max(0, 'are not read by Python').default([]) })
    .prefault({}),
});
type Config = z.output<typeof config>;

/** Pairs of time, height and width where the file does not say. */
const SECTIONS = [11, 11, 10];

function decoderOf(c: Qwen35Config): Decoder {
  const width = Math.trunc((c.head_dim ?? c.hidden_size / c.num_attention_heads) * turnedPart(c));
  return llamaDecoder(qwen35Model(c, interleavedAxes(c.rope_scaling ?? {}, width / 2, SECTIONS)));
}

/** Qwen3-VL's encoder, which gives its last states alone, and a language model that learns associations. modeling_qwen3_5.py */
export const qwen35Pictures = defineFamily({
  modelTypes: ['qwen3_5'],
  memory: { unmaskedVision: true },
  usualTask: 'image-text-to-text',
  config,
  ...{ prefixes: [], parts: QWEN_PARTS },
  heads: {
    'media-chat': {
      ...embeddedDecoderRoles<Config>((c) => decoderOf(c.text_config), { axes: AXES }),
      vision_encoder: (g: GraphWriter, c: Config) => writeDeepEncoder(g, c.vision_config),
    },
  },
});
