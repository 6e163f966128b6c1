import * as z from 'zod';
import { defineFamily } from '../family.js';
import { headWidth } from '../layers/head-sizes.js';
import { linear } from '../layers/linear.js';
import { splitGroups } from '../layers/fused-projections.js';
import { rotaryConfig } from '../layers/rope-frequencies.js';
import { epsilon, size } from '../config-fields.js';
import { common, parallelHeads, sizesOf, twoLayers } from '../bases/decoder/parallel-decoder.js';

const neoxConfig = z.object({
  ...common,
  ...rotaryConfig,
  intermediate_size: size,
  hidden_act: z.string().default('gelu'),
  partial_rotary_factor: z.number().positive().max(1).default(0.25),
  layer_norm_eps: epsilon.default(1e-5),
  use_parallel_residual: z.boolean().default(true),
  attention_bias: z.boolean().default(true),
});

/** Queries, keys and values of a head lie together. modeling_gpt_neox.py */
export const gptNeox = defineFamily({
  modelTypes: ['gpt_neox'],
  config: neoxConfig,
  prefixes: ['gpt_neox.'],
  heads: parallelHeads<z.output<typeof neoxConfig>>((c) => {
    const { hidden_size: width, num_attention_heads: heads, attention_bias: bias } = c;
    const counts = { heads, keyHeads: heads, width: headWidth(width, heads) };
    return {
      ...sizesOf(c),
      ...{
        keyHeads: heads,
        epsilon: c.layer_norm_eps,
        prefix: 'gpt_neox.',
        parallel: c.use_parallel_residual,
      },
      names: { embed: 'embed_in', layers: 'layers', norm: 'final_layer_norm', output: 'embed_out' },
      norms: { attention: 'input_layernorm', feedForward: 'post_attention_layernorm' },
      rotary: c,
      project: (g, x, at) =>
        splitGroups(
          g,
          linear(g, x, at('attention.query_key_value'), { from: width, to: 3 * width, bias }),
          counts,
        ),
      output: (g, x, at) => linear(g, x, at('attention.dense'), { from: width, to: width, bias }),
      feedForward: twoLayers({
        ...{ names: ['mlp.dense_h_to_4h', 'mlp.dense_4h_to_h'], width, inner: c.intermediate_size },
        ...{ act: c.hidden_act, bias: true },
      }),
    };
  }),
});
