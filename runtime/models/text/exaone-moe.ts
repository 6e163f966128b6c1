import * as z from 'zod';
import { llamaSizes, windowOf } from '../bases/decoder/llama-config.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';
import {
  sigmoidExperts,
  count,
  isDense,
  listedLayers,
  routedFeedForward,
  sigmoidConfig,
} from '../bases/decoder/routed-experts.js';
import { eachLayerIn, size } from '../config-fields.js';
import { defineFamily } from '../family.js';
import { exaoneConfig, exaoneSlides } from './exaone4.js';

const config = exaoneConfig
  .extend({
    ...{ num_experts: count.default(64), num_experts_per_tok: count.default(8) },
    ...{ num_shared_experts: count.default(1), moe_intermediate_size: size.default(1024) },
    routed_scaling_factor: z.number().default(2.5),
    ...sigmoidConfig,
    ...{ first_k_dense_replace: z.int().min(0).default(1) },
    ...listedLayers,
    pad_token_id: z.int().nullable().default(0),
  })
  .refine(...eachLayerIn('mlp_layer_types'));
type Config = z.output<typeof config>;

/** Attention of EXAONE 4 with norms before it, experts behind the first layers. modeling_exaone_moe.py */
export const exaoneMoe = defineFamily({
  modelTypes: ['exaone_moe'],
  config,
  older: { 'mlp.gate.e_score_correction_bias': 'mlp.e_score_correction_bias' },
  ...llamaLike<Config>((c) => {
    const slides = exaoneSlides(c);
    const routed = {
      ...{ ...c, first_k_dense_replace: 0 },
      ...{ n_routed_experts: c.num_experts, n_shared_experts: c.num_shared_experts },
    };
    const mixed = routedFeedForward(routed, sigmoidExperts({ ...routed, shut: true }));
    return {
      ...llamaSizes(c),
      ...{ bias: {}, headNorms: 'head', window: windowOf(c, slides) },
      rotary: (layer) => (c.sliding_window === null || slides(layer) ? c : undefined),
      feedForward: (g, x, at, layer) =>
        isDense(c, layer, c.first_k_dense_replace) ? undefined : mixed(g, x, at, layer),
    };
  }),
});
