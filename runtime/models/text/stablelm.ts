import * as z from 'zod';
import { defineFamily } from '../family.js';
import { gatedFeedForward } from '../layers/swiglu.js';
import { headWidth } from '../layers/head-sizes.js';
import { linear } from '../layers/linear.js';
import { eachHeadNorm } from '../layers/norm.js';
import { rotaryConfig } from '../layers/rope-frequencies.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { epsilon, size } from '../config-fields.js';
import { common, parallelHeads, sizesOf } from '../bases/decoder/parallel-decoder.js';

const stableConfig = z.object({
  ...common,
  ...rotaryConfig,
  intermediate_size: size,
  max_position_embeddings: size.default(4096),
  num_key_value_heads: size.nullable().default(32),
  hidden_act: z.string().default('silu'),
  layer_norm_eps: epsilon.default(1e-5),
  partial_rotary_factor: z.number().positive().max(1).default(0.25),
  use_qkv_bias: z.boolean().default(false),
  qk_layernorm: z.boolean().default(false),
  use_parallel_residual: z.boolean().default(false),
});

/** `norms.N.weight` of all heads, float32 [heads, width]. */
function headWeights(
  g: GraphWriter,
  name: string,
  { heads, width }: { heads: number; width: number },
): Value {
  const rows = Array.from({ length: heads }, (_, head) =>
    g.node('Unsqueeze', [g.weight(`${name}.norms.${head}.weight`, [width]), g.ints([0])]),
  );
  return g.node('Concat', rows, { axis: 0 });
}

/** Llama's layers with LayerNorms. modeling_stablelm.py */
export const stablelm = defineFamily({
  modelTypes: ['stablelm'],
  config: stableConfig,
  prefixes: ['model.'],
  heads: parallelHeads<z.output<typeof stableConfig>>((c) => {
    const {
      hidden_size: width,
      num_attention_heads: heads,
      use_qkv_bias: bias,
      use_parallel_residual: parallel,
    } = c;
    const keyHeads = c.num_key_value_heads ?? heads;
    const ofHead = headWidth(width, heads);
    return {
      ...sizesOf(c),
      ...{ keyHeads, epsilon: c.layer_norm_eps, prefix: 'model.', rotary: c, parallel },
      names: { embed: 'embed_tokens', layers: 'layers', norm: 'norm', output: 'lm_head' },
      norms: {
        attention: 'input_layernorm',
        feedForward: parallel ? 'input_layernorm' : 'post_attention_layernorm',
      },
      project(g, x, at) {
        const one = (name: string, count: number) =>
          linear(g, x, at(`self_attn.${name}_proj`), { from: width, to: count * ofHead, bias });
        const ofHeads = (count: number) => ({ heads: count, width: ofHead });
        const normed = (name: string, count: number) =>
          c.qk_layernorm
            ? eachHeadNorm(
                g,
                one(name, count),
                headWeights(g, at(`self_attn.${name}_layernorm`), ofHeads(count)),
                {
                  ...ofHeads(count),
                  epsilon: c.layer_norm_eps,
                },
              )
            : one(name, count);
        return { query: normed('q', heads), key: normed('k', keyHeads), value: one('v', keyHeads) };
      },
      output: (g, x, at) => linear(g, x, at('self_attn.o_proj'), { from: width, to: width, bias: false }),
      feedForward: (g, x, at) =>
        gatedFeedForward(g, x, (name) => at(`mlp.${name}`), {
          ...{ width, inner: c.intermediate_size, act: c.hidden_act },
        }),
    };
  }),
});
