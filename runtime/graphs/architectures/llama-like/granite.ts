import * as z from 'zod';
import { defineArchitecture } from '../../architecture.js';
import { activation } from '../../blocks/activation.js';
import { expertsSum, overTokens, softmaxChoices } from '../../blocks/experts.js';
import { gatedHalves } from '../../blocks/gated-feed-forward.js';
import { matMulTransposed } from '../../blocks/linear.js';
import type { GraphWriter, Value } from '../../graph-writer.js';
import { llamaConfig, llamaSizes } from './config.js';
import { llamaLike } from './llama-like.js';

/** Llama with factors, one gated layer or many. */

const factor = z.number().default(1);

const factors = {
  ...{ embedding_multiplier: factor, logits_scaling: factor },
  ...{ residual_multiplier: factor, attention_multiplier: factor },
};

const graniteConfig = z.object({ ...llamaConfig, ...factors, mlp_bias: z.boolean().default(false) });

const scaledSizes = (c: z.output<z.ZodObject<typeof llamaConfig & typeof factors>>) => ({
  ...llamaSizes(c),
  scale: c.attention_multiplier,
  embedScale: c.embedding_multiplier,
  residualScale: c.residual_multiplier,
  scoresScale: 1 / c.logits_scaling,
});

/** modeling_granite.py */
export const granite = defineArchitecture({
  modelTypes: ['granite'],
  config: graniteConfig,
  ...llamaLike<z.output<typeof graniteConfig>>((c) => {
    const sizes = scaledSizes(c);
    return { ...sizes, bias: { ...sizes.bias, feedForward: c.mlp_bias } };
  }),
});

const mixtureConfig = z.object({
  ...llamaConfig,
  ...factors,
  head_dim: z.null('heads of other widths than hidden_size / num_attention_heads are not known').optional(),
  num_local_experts: z.int().min(0).max(1024).default(8),
  num_experts_per_tok: z.int().min(1).max(1024).default(2),
  shared_intermediate_size: z.int().min(0).max(65536).default(0),
  position_embedding_type: z.string().nullable().default('rope'),
});
type Mixture = z.output<typeof mixtureConfig>;

type At = (name: string) => string;

/** Experts whose matrices are stored as one, [experts, rows, columns]. */
function experts(g: GraphWriter, x: Value, at: At, c: Mixture): Value {
  const { hidden_size: width, intermediate_size: inner, num_local_experts: count } = c;
  // Taken apart once, when the graph is opened.
  const matrices = (name: string, rows: number, columns: number) =>
    g
      .nodes('Split', [g.weight(at(`${name}.weight`), [count, rows, columns])], {
        ...{ outputs: count, attributes: { axis: 0, num_outputs: count } },
      })
      .map((part) => g.node('Squeeze', [part, g.ints([0])]));
  const [wide, narrow] = [
    matrices('input_linear', 2 * inner, width),
    matrices('output_linear', width, inner),
  ];
  const size = { width, experts: count, chosen: c.num_experts_per_tok };
  const product = (fed: Value, all: readonly Value[], expert: number) =>
    matMulTransposed(g, fed, all[expert]!);
  return overTokens(g, x, width, (tokens) =>
    expertsSum(g, tokens, softmaxChoices(g, tokens, at('router.layer'), size), {
      width,
      compute(fed, expert) {
        const both = product(fed, wide, expert);
        const [gate, up] = g.nodes('Split', [both, g.ints([inner, inner])], {
          ...{ outputs: 2, attributes: { axis: -1 } },
        }) as [Value, Value];
        return product(g.node('Mul', [activation(g, gate, c.hidden_act), up]), narrow, expert);
      },
    }),
  );
}

/** The experts, a layer that all tokens go through, or the sum of both. */
function feedForward(g: GraphWriter, x: Value, at: At, c: Mixture): Value {
  const { hidden_size: width, shared_intermediate_size: inner, hidden_act: act } = c;
  const names = { both: at('shared_mlp.input_linear'), down: at('shared_mlp.output_linear') };
  const shared = () => gatedHalves(g, x, names, { width, inner, act, bias: false });
  const mixed = () => experts(g, x, (name) => at(`block_sparse_moe.${name}`), c);
  if (inner === 0) return mixed();
  return c.num_local_experts === 0 ? shared() : g.node('Add', [mixed(), shared()]);
}

const mixtureOf = (c: Mixture) => ({
  ...scaledSizes(c),
  rotary: () => (c.position_embedding_type === 'rope' ? c : undefined),
  feedForward: (g: GraphWriter, x: Value, at: At) => feedForward(g, x, at, c),
});

const hasExperts = {
  ...{ message: 'a mixture without experts is not known', path: ['num_local_experts'] },
};

const expertConfig = mixtureConfig.refine((c) => c.num_local_experts > 0, hasExperts);

/** modeling_granitemoeshared.py */
export const graniteMoeShared = defineArchitecture({
  modelTypes: ['granitemoeshared'],
  config: expertConfig,
  ...llamaLike<Mixture>(mixtureOf),
});

/** Whatever a configuration says of a shared layer, it has none. modeling_granitemoe.py */
export const graniteMoe = defineArchitecture({
  modelTypes: ['granitemoe'],
  config: expertConfig,
  ...llamaLike<Mixture>((c) => mixtureOf({ ...c, shared_intermediate_size: 0 })),
});

const hybridConfig = mixtureConfig
  .extend({
    shared_intermediate_size: z.int().min(1).max(65536).default(1024),
    position_embedding_type: z.string().nullable().default(null),
    layer_types: z.array(z.literal('attention', 'layers with a state (mamba) are not known'), {
      error: 'layers with a state (mamba) are not known',
    }),
  })
  .refine((c) => c.layer_types.length >= c.num_hidden_layers, {
    ...{ message: 'leaves out layers', path: ['layer_types'] },
  });
type Hybrid = z.output<typeof hybridConfig>;

/** Those of Granite 4 whose layers all attend. modeling_granitemoehybrid.py */
export const graniteMoeHybrid = defineArchitecture({
  modelTypes: ['granitemoehybrid'],
  config: hybridConfig,
  ...llamaLike<Hybrid>(mixtureOf),
});
