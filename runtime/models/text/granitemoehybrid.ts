import * as z from 'zod';
import { defineFamily } from '../family.js';
import { mambaConfig, mambaSizes, stateSpace } from '../layers/mamba2-scan.js';
import { eachLayerIn, isOfVersion5, library } from '../config-fields.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';
import { mixtureConfig, mixtureOf, choosesExperts, hasChoices } from './granite.js';

const hybridConfig = mixtureConfig
  .extend({
    ...mambaConfig,
    ...library,
    shared_intermediate_size: z.int().min(1).max(65536).default(1024),
    position_embedding_type: z.string().nullable().default(null),
    layer_types: z.array(z.enum(['attention', 'mamba'])).nullish(),
  })
  .refine(...eachLayerIn('layer_types'))
  .refine(choosesExperts, hasChoices);

type Hybrid = z.output<typeof hybridConfig>;

/** Granite 4: most layers keep a state, few attend. In version 5 groups are normed by themselves. modeling_granitemoehybrid.py */
export const graniteMoeHybrid = defineFamily({
  modelTypes: ['granitemoehybrid'],
  config: hybridConfig,
  ...llamaLike<Hybrid>((c) => ({
    ...mixtureOf(c),
    attend: (g, x, inputs, { layer, at }) =>
      c.layer_types?.[layer] === 'attention'
        ? undefined
        : stateSpace(g, x, inputs, {
            ...{ ...mambaSizes(c), epsilon: c.rms_norm_eps, act: c.hidden_act, layer },
            normGroups: isOfVersion5(c) ? c.mamba_n_groups : 1,
            at: (name) => at(`mamba.${name}`),
          }),
  })),
});
