import * as z from 'zod';
import { defineFamily } from '../family.js';
import { headWidth } from '../layers/head-sizes.js';
import { linear } from '../layers/linear.js';
import { rotaryConfig } from '../layers/rope-frequencies.js';
import { epsilon, size } from '../config-fields.js';
import { common, parallelHeads, sizesOf, twoLayers } from '../bases/decoder/parallel-decoder.js';

const phiConfig = z.object({
  ...common,
  ...rotaryConfig,
  intermediate_size: size,
  num_key_value_heads: size.nullish(),
  hidden_act: z.string().default('gelu_new'),
  layer_norm_eps: epsilon.default(1e-5),
  partial_rotary_factor: z.number().positive().max(1).default(0.5),
  qk_layernorm: z.literal(false).default(false),
});

/** One norm for attention and feed-forward, biases everywhere. modeling_phi.py */
export const phi = defineFamily({
  modelTypes: ['phi'],
  config: phiConfig,
  prefixes: ['model.'],
  heads: parallelHeads<z.output<typeof phiConfig>>((c) => {
    const { hidden_size: width, num_attention_heads: heads } = c;
    const keyHeads = c.num_key_value_heads ?? heads;
    const ofHead = headWidth(width, heads);
    return {
      ...sizesOf(c),
      ...{
        keyHeads,
        epsilon: c.layer_norm_eps,
        prefix: 'model.',
        rotary: c,
        parallel: true,
        scoresBias: true,
      },
      names: { embed: 'embed_tokens', layers: 'layers', norm: 'final_layernorm', output: 'lm_head' },
      norms: { attention: 'input_layernorm', feedForward: 'input_layernorm' },
      project(g, x, at) {
        const one = (name: string, count: number) =>
          linear(g, x, at(`self_attn.${name}_proj`), { from: width, to: count * ofHead });
        return { query: one('q', heads), key: one('k', keyHeads), value: one('v', keyHeads) };
      },
      output: (g, x, at) => linear(g, x, at('self_attn.dense'), { from: width, to: width }),
      feedForward: twoLayers({
        ...{
          names: ['mlp.fc1', 'mlp.fc2'],
          width,
          inner: c.intermediate_size,
          act: c.hidden_act,
          bias: true,
        },
      }),
    };
  }),
});
