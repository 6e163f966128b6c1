import * as z from 'zod';
import { defineFamily } from '../family.js';
import { expertsFeedForward } from '../layers/moe.js';
import { epsilon } from '../config-fields.js';
import { llamaSizes } from '../bases/decoder/llama-config.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';
import { mistralConfig } from './mistral.js';

const mixtralConfig = mistralConfig.extend({
  sliding_window: z.int().min(1).nullish(),
  rope_theta: z.number().positive().default(1e6),
  rms_norm_eps: epsilon.default(1e-5),
  num_experts_per_tok: z.int().min(1).max(256).default(2),
  num_local_experts: z.int().min(1).max(256).default(8),
});

/** A mixture of experts: each token goes through a few of them. modeling_mixtral.py */
export const mixtral = defineFamily({
  modelTypes: ['mixtral'],
  config: mixtralConfig,
  // In memory, version 5 calls the same `mlp`.
  older: {
    'block_sparse_moe.gate.weight': 'mlp.gate.weight',
    'block_sparse_moe.experts.gate_up_proj': 'mlp.experts.gate_up_proj',
    'block_sparse_moe.experts.down_proj': 'mlp.experts.down_proj',
  },
  ...llamaLike<z.output<typeof mixtralConfig>>((c) => ({
    ...llamaSizes(c),
    bias: {},
    window: () => c.sliding_window ?? undefined,
    feedForward: (g, x, at) =>
      expertsFeedForward(g, x, (name) => at(`block_sparse_moe.${name}`), {
        ...{ width: c.hidden_size, inner: c.intermediate_size, act: c.hidden_act },
        ...{ experts: c.num_local_experts, chosen: c.num_experts_per_tok },
        names: { gate: 'w1', up: 'w3', down: 'w2' },
      }),
  })),
});
