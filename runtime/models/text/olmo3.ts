import * as z from 'zod';
import { defineFamily } from '../family.js';
import { epsilon, size } from '../config-fields.js';
import { llamaConfig, llamaSizes, windowConfig, windowOf } from '../bases/decoder/llama-config.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';

/** Decoders with norms behind attention and feed-forward whose layers see a window or everything: OLMo 3, EXAONE 4. */

const olmo3Config = z.object({
  ...llamaConfig,
  vocab_size: size.default(50_304),
  ...windowConfig,
  sliding_window: z.int().min(1).nullable().default(4096),
  rms_norm_eps: epsilon.default(1e-5),
  pad_token_id: z.int().nullable().default(1),
  rope_local_base_freq: z.number().positive().nullish(),
});

/** Only layers that see everything have scaled positions. modeling_olmo3.py */
export const olmo3 = defineFamily({
  modelTypes: ['olmo3'],
  config: olmo3Config,
  ...llamaLike<z.output<typeof olmo3Config>>((c) => {
    const slides = (layer: number) =>
      c.layer_types ? c.layer_types[layer] === 'sliding_attention' : (layer + 1) % 4 !== 0;
    const local = { ...c, rope_theta: c.rope_local_base_freq ?? c.rope_theta, rope_scaling: null };
    return {
      ...llamaSizes(c),
      ...{ norms: 'after', headNorms: 'whole', window: windowOf(c, slides) },
      rotary: (layer) => (slides(layer) ? local : c),
    };
  }),
});
