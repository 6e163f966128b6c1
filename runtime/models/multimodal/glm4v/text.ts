import * as z from 'zod';
import { glm4Model } from '../../bases/decoder/interleaved-rope.js';
import type { Decoder } from '../../bases/decoder/decoder.js';
import { llamaConfig, usualSizes } from '../../bases/decoder/llama-config.js';
import { llamaDecoder, type LlamaLike } from '../../bases/decoder/llama-decoder.js';
import { epsilon, size } from '../../config-fields.js';
import { headWidth } from '../../layers/head-sizes.js';
import { partialRotaryConfig } from '../../layers/rope-frequencies.js';
import { glmMoeFields, glmMoeModel } from '../../text/glm4-moe.js';
import { sectionAxes } from '../qwen2-vl/family.js';

const common = { ...llamaConfig, ...partialRotaryConfig, rms_norm_eps: epsilon.default(1e-5) };

const textConfig = z
  .object({
    ...common,
    ...usualSizes({ vocabulary: 151_552, width: 4096, inner: 13_696, layers: 40, heads: 32 }),
    num_key_value_heads: size.nullable().default(2),
    max_position_embeddings: size.default(32_768),
  })
  .refine(
    ({ head_dim: given, hidden_size: width, num_attention_heads: heads }) =>
      given == null || given === Math.floor(width / heads),
    { path: ['head_dim'], error: 'is another width than that of hidden_size by heads, which attention has' },
  );

const ocrTextConfig = z.object({
  ...common,
  ...usualSizes({ vocabulary: 59_392, width: 1024, inner: 4096, layers: 16, heads: 16 }),
  num_key_value_heads: size.default(8),
  max_position_embeddings: size.default(131_072),
});

/** Pairs of time, height and width where the file does not say. */
const SECTIONS = [8, 12, 12];

type Turned = Parameters<typeof glm4Model>[0] & z.output<z.ZodObject<typeof partialRotaryConfig>>;

/** A decoder whose heads turn by positions on three axes. */
function turned(c: Turned, model: LlamaLike): Decoder {
  const whole = c.head_dim ?? headWidth(c.hidden_size, c.num_attention_heads);
  const width = Math.floor(whole * (c.partial_rotary_factor ?? 1));
  const rotary = { ...c, axes: sectionAxes(c, width, SECTIONS) };
  return llamaDecoder({ ...model, rotary: () => rotary });
}

/** @param bias of queries, keys and values, whatever attention_bias says */
const decoderOf = (c: Turned, bias: boolean): Decoder => turned(c, glm4Model({ ...c, attention_bias: bias }));

export const glmText = textConfig.transform((c) => decoderOf(c, true));
export const ocrText = ocrTextConfig.transform((c) => decoderOf(c, false));

const mixedTextConfig = z.object({
  ...glmMoeFields,
  vocab_size: size.default(151_424),
  max_position_embeddings: size.default(65_536),
  attention_bias: z.boolean().default(true),
});

/** GLM-4.5 with its experts. */
export const mixedText = mixedTextConfig.transform((c) => turned(c, glmMoeModel(c)));
