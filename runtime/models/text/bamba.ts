import * as z from 'zod';
import { defineFamily } from '../family.js';
import { partialRotaryConfig } from '../layers/rope-frequencies.js';
import { mambaConfig, mambaSizes, stateSpace } from '../layers/mamba2-scan.js';
import { epsilon, isOfVersion5, library, size } from '../config-fields.js';
import { llamaConfig, llamaSizes, usualSizes } from '../bases/decoder/llama-config.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';
import { NAMES } from '../bases/decoder/mamba-layers.js';

const bambaConfig = z.object({
  ...llamaConfig,
  ...partialRotaryConfig,
  ...library,
  ...usualSizes({ vocabulary: 128_000, width: 4096, inner: 14_336, layers: 32, heads: 32 }),
  ...mambaConfig,
  num_key_value_heads: size.nullable().default(8),
  max_position_embeddings: size.default(262_144),
  rms_norm_eps: epsilon.default(1e-5),
  pad_token_id: z.int().nullable().default(0),
  attn_layer_indices: z.array(z.int()).nullish(),
});

type Bamba = z.output<typeof bambaConfig>;

/** Few layers attend, by half of their heads' positions. In version 5 groups are normed by themselves. modeling_bamba.py */
export const bamba = defineFamily({
  modelTypes: ['bamba'],
  memory: { keyLayers: (c) => c.attn_layer_indices?.length ?? 0 },
  config: bambaConfig,
  ...llamaLike<Bamba>((c) => {
    const sizes = {
      ...{ ...mambaSizes(c), epsilon: c.rms_norm_eps, act: c.hidden_act },
      normGroups: isOfVersion5(c) ? c.mamba_n_groups : 1,
    };
    return {
      ...llamaSizes(c),
      ...{ names: NAMES, rotary: () => ({ ...c, partial_rotary_factor: c.partial_rotary_factor ?? 0.5 }) },
      attend: (g, x, inputs, { layer, at }) =>
        c.attn_layer_indices?.includes(layer)
          ? undefined
          : stateSpace(g, x, inputs, { ...sizes, layer, at: (name) => at(`mamba.${name}`) }),
    };
  }),
});
