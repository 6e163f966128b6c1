import * as z from 'zod';
import { defineFamily } from '../family.js';
import { falconMask } from '../layers/alibi.js';
import { headWidth } from '../layers/head-sizes.js';
import { linear } from '../layers/linear.js';
import { splitGroups, splitRows } from '../layers/fused-projections.js';
import { rotaryConfig } from '../layers/rope-frequencies.js';
import { epsilon, size } from '../config-fields.js';
import {
  common,
  type ParallelDecoder,
  parallelHeads,
  sizesOf,
  twoLayers,
} from '../bases/decoder/parallel-decoder.js';

const falconConfig = z.object({
  ...common,
  ...rotaryConfig,
  layer_norm_epsilon: epsilon.default(1e-5),
  num_kv_heads: size.nullish(),
  num_ln_in_parallel_attn: z.int().min(1).max(2).nullish(),
  alibi: z.boolean().default(false),
  new_decoder_architecture: z.boolean().default(false),
  multi_query: z.boolean().default(true),
  parallel_attn: z.boolean().default(true),
  bias: z.boolean().default(false),
  ffn_hidden_size: size.nullish(),
  activation: z.string().default('gelu'),
  tie_word_embeddings: z.boolean().default(true),
});

/** How Falcon's generations norm: one for both, one for each, or one after the other. */
function falconNorms(c: z.output<typeof falconConfig>): ParallelDecoder['norms'] {
  if (c.new_decoder_architecture && (c.num_ln_in_parallel_attn ?? 2) === 2)
    return { attention: 'ln_attn', feedForward: 'ln_mlp' };
  const feedForward = c.parallel_attn ? 'input_layernorm' : 'post_attention_layernorm';
  return { attention: 'input_layernorm', feedForward };
}

/** modeling_falcon.py */
export const falcon = defineFamily({
  modelTypes: ['falcon'],
  config: falconConfig,
  prefixes: ['transformer.'],
  heads: parallelHeads<z.output<typeof falconConfig>>((c) => {
    const { hidden_size: width, num_attention_heads: heads, bias } = c;
    const fresh = c.new_decoder_architecture;
    const keyHeads = fresh ? (c.num_kv_heads ?? heads) : c.multi_query ? 1 : heads;
    const counts = { heads, keyHeads, width: headWidth(width, heads) };
    const scale = counts.width ** -0.5;
    const to = (heads + 2 * keyHeads) * counts.width;
    const split = c.multi_query && !fresh ? splitRows : splitGroups;
    return {
      ...sizesOf(c),
      ...{ keyHeads, epsilon: c.layer_norm_epsilon, prefix: 'transformer.' },
      rotary: c.alibi ? undefined : c,
      ...(c.alibi && { mask: (g, inputs) => falconMask(g, inputs, { heads, keyHeads, scale }) }),
      parallel: fresh || c.parallel_attn,
      names: { embed: 'word_embeddings', layers: 'h', norm: 'ln_f', output: 'lm_head' },
      norms: falconNorms(c),
      project: (g, x, at) =>
        split(g, linear(g, x, at('self_attention.query_key_value'), { from: width, to, bias }), counts),
      output: (g, x, at) => linear(g, x, at('self_attention.dense'), { from: width, to: width, bias }),
      feedForward: twoLayers({
        ...{
          names: ['mlp.dense_h_to_4h', 'mlp.dense_4h_to_h'],
          width,
          inner: c.ffn_hidden_size ?? 4 * width,
        },
        ...{ act: c.activation, bias },
      }),
    };
  }),
});
