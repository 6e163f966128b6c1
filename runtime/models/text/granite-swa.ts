import * as z from 'zod';
import { windowConfig, windowOf } from '../bases/decoder/llama-config.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';
import { eachLayerIn, epsilon, size } from '../config-fields.js';
import { defineFamily } from '../family.js';
import type { RotaryConfig } from '../layers/rope-frequencies.js';
import {
  choosesExperts,
  EXPERT_STACKS,
  graniteConfig,
  graniteOf,
  hasChoices,
  hasExperts,
  mixtureConfig,
  mixtureOf,
} from './granite.js';

const windows = {
  ...windowConfig,
  sliding_window: z.int().min(1).nullable().default(128),
  /** 0 for a layer whose heads are not turned. */
  layer_rope_theta: z.array(z.number().min(0)).nullish(),
};

type Windows = z.output<z.ZodObject<typeof windows>> & RotaryConfig & { num_hidden_layers: number };

/** Every fourth layer from the first one sees everything; heads have a score of their own beside those of tokens. */
const windowed = (c: Windows) => ({
  sinks: true,
  window: windowOf(c, (layer) => layer % 4 !== 0),
  rotary(layer: number): RotaryConfig | undefined {
    const theta = c.layer_rope_theta ? c.layer_rope_theta[layer]! : c.rope_theta;
    return theta === 0 ? undefined : { ...c, rope_theta: theta };
  },
});

const config = graniteConfig
  .extend({
    ...windows,
    ...{ vocab_size: size.default(100_352), hidden_size: size.default(2560) },
    ...{
      intermediate_size: size.default(8192),
      num_hidden_layers: mixtureConfig.shape.num_hidden_layers.default(24),
    },
    ...{ num_attention_heads: size.default(20), num_key_value_heads: size.nullable().default(4) },
    ...{ max_position_embeddings: size.default(8192), rms_norm_eps: epsilon.default(1e-5) },
    tie_word_embeddings: z.boolean().default(true),
  })
  .refine(...eachLayerIn('layer_rope_theta'));

/** modeling_granite_swa.py */
export const graniteSwa = defineFamily({
  modelTypes: ['granite_swa'],
  config,
  ...llamaLike<z.output<typeof config>>((c) => ({ ...graniteOf(c), ...windowed(c) })),
});

const mixed = mixtureConfig
  .extend(windows)
  .refine((c) => c.num_local_experts > 0, hasExperts)
  .refine(choosesExperts, hasChoices)
  .refine(...eachLayerIn('layer_rope_theta'));

/** The same over a mixture of experts. modeling_granitemoe_swa.py */
export const graniteMoeSwa = defineFamily({
  modelTypes: ['granitemoe_swa'],
  config: mixed,
  older: EXPERT_STACKS,
  ...llamaLike<z.output<typeof mixed>>((c) => ({ ...mixtureOf(c), ...windowed(c) })),
});
