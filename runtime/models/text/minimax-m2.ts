import * as z from 'zod';
import { llamaConfig, llamaSizes, usualSizes } from '../bases/decoder/llama-config.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';
import { count } from '../bases/decoder/routed-experts.js';
import { size } from '../config-fields.js';
import { defineFamily } from '../family.js';
import { chosenFeedForward } from '../layers/moe.js';
import { partialRotaryConfig } from '../layers/rope-frequencies.js';
import { sigmoidChoices } from '../layers/sigmoid-router.js';

const config = z.object({
  ...llamaConfig,
  ...usualSizes({ vocabulary: 200_064, width: 3072, inner: 1536, layers: 62, heads: 48 }),
  ...partialRotaryConfig,
  num_key_value_heads: size.nullable().default(8),
  head_dim: size.nullable().default(128),
  max_position_embeddings: size.default(196_608),
  rope_theta: z.number().positive().default(5e6),
  // Files of its makers have it in place of partial_rotary_factor.
  rotary_dim: size.nullish(),
  num_experts_per_tok: count.default(8),
  num_local_experts: count.default(256),
});
type Config = z.output<typeof config>;

const headWidthOf = (c: Config): number => c.head_dim ?? Math.floor(c.hidden_size / c.num_attention_heads);

const partOf = (c: Config) =>
  c.partial_rotary_factor ?? (c.rotary_dim ? c.rotary_dim / headWidthOf(c) : undefined);

/** Norms over all heads of queries and of keys, experts in every layer. modeling_minimax_m2.py */
export const minimaxM2 = defineFamily({
  modelTypes: ['minimax_m2'],
  config,
  ...llamaLike<Config>((c) => ({
    ...llamaSizes(c),
    bias: {},
    headNorms: 'whole',
    rotary: () => ({ ...c, partial_rotary_factor: partOf(c) }),
    feedForward: (g, x, at) => {
      const [width, named] = [c.hidden_size, (name: string) => at(`block_sparse_moe.${name}`)];
      return chosenFeedForward(g, x, named, {
        ...{ width, inner: c.intermediate_size, act: c.hidden_act },
        names: { gate: 'w1', up: 'w3', down: 'w2' },
        choose: (tokens) =>
          sigmoidChoices(g, tokens, {
            ...{ gate: named('gate'), correction: named('e_score_correction_bias'), width, epsilon: 0 },
            ...{ experts: c.num_local_experts, chosen: c.num_experts_per_tok },
          }),
      });
    },
  })),
});
