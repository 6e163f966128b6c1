import { named } from '../inert-fields.js';
import * as z from 'zod';
import { defineFamily } from '../family.js';
import { float } from '../writer/attributes.js';
import { type Choices, expertsSum, overTokens } from '../layers/moe.js';
import { linear, multiplied } from '../layers/linear.js';
import { type GraphWriter, MICROSOFT, type Value } from '../writer/graph-writer.js';
import { epsilon, size } from '../config-fields.js';
import {
  llamaConfig,
  llamaSizes,
  usualSizes,
  windowConfig,
  windowOf,
} from '../bases/decoder/llama-config.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';

const count = z.int().min(1).max(1024);

const YARN = {
  ...{ rope_type: 'yarn', factor: 32, beta_fast: 32, beta_slow: 1, truncate: false },
  original_max_position_embeddings: 4096,
};

const config = z.object({
  ...llamaConfig,
  ...usualSizes({ vocabulary: 201_088, width: 2880, inner: 2880, layers: 36, heads: 64 }),
  ...windowConfig,
  num_key_value_heads: size.nullable().default(8),
  head_dim: size.nullable().default(64),
  sliding_window: z.int().min(1).nullable().default(128),
  attention_bias: z.boolean().default(true),
  rope_theta: z.number().positive().default(150_000),
  rope_scaling: z.record(z.string(), z.unknown()).nullable().default(YARN),
  max_position_embeddings: size.default(131_072),
  rms_norm_eps: epsilon.default(1e-5),
  num_local_experts: count.default(128),
  num_experts_per_tok: count.default(4),
});
type Config = z.output<typeof config>;

type At = (name: string) => string;

/** The best scores say who computes; their softmax says how much of it is taken. */
function choose(g: GraphWriter, tokens: Value, router: string, c: Config): Choices {
  const experts = c.num_local_experts;
  const scores = linear(g, tokens, router, { from: c.hidden_size, to: experts, isExact: true });
  const [best, which] = g.nodes('TopK', [scores, g.ints([c.num_experts_per_tok])], {
    ...{ outputs: 2, attributes: { axis: -1 } },
  }) as [Value, Value];
  return { experts, which, weights: g.node('Softmax', [best], { axis: -1 }) };
}

const [LIMIT, ALPHA] = [7, 1.702];

/** (up + 1) · gate · sigmoid(1.702 gate), both bounded, of float32 [tokens, 2 · inner] that has them in turn. */
function gatedPairs(g: GraphWriter, both: Value, inner: number): Value {
  const pairs = g.node('Reshape', [both, g.ints([-1, inner, 2])]);
  const [gate, up] = [0, 1].map((i) => g.node('Gather', [pairs, g.ints([i], [])], { axis: 2 })) as [
    ...[Value, Value],
  ];
  const bounded = g.node('Clip', [gate, '', g.scalar(LIMIT)]);
  const glu = g.node('QuickGelu', [bounded], { alpha: float(ALPHA) }, MICROSOFT);
  const other = g.node('Clip', [up, g.scalar(-LIMIT), g.scalar(LIMIT)]);
  return g.node('Mul', [g.node('Add', [other, g.scalar(1)]), glu]);
}

/** Experts in two tensors, [experts, columns, rows] each, or as floats of four bits. */
function mixture(g: GraphWriter, x: Value, at: At, c: Config): Value {
  const { hidden_size: width, intermediate_size: inner } = c;
  const layer =
    (name: string, { rows, columns }: Record<'rows' | 'columns', number>) =>
    (own: Value, expert: number) => {
      const part = (of: string) => at(`experts.${of}[${expert}]`);
      const product = multiplied(g, own, part(name), { rows, columns, transposed: true });
      return [g.node('Add', [product, g.weight(part(`${name}_bias`), [rows])])];
    };
  return overTokens(g, x, width, (tokens) =>
    expertsSum(g, tokens, choose(g, tokens, at('router'), c), {
      width,
      compute(rows, through) {
        const [both] = through(rows, layer('gate_up_proj', { rows: 2 * inner, columns: width }));
        return through(gatedPairs(g, both!, inner), layer('down_proj', { rows: width, columns: inner }))[0]!;
      },
    }),
  );
}

/** Every second layer sees a window, and each head has a score that no token gets. modeling_gpt_oss.py */
export const gptOss = defineFamily({
  modelTypes: ['gpt_oss'],
  inert: [{ fields: named('hidden_act'), reason: 'experts have one activation of their own' }],
  readers: { messages: 'plain' },
  config,
  ...llamaLike<Config>((c) => ({
    ...llamaSizes(c),
    bias: { projections: c.attention_bias, output: c.attention_bias },
    sinks: true,
    window: windowOf(c, (layer) => layer % 2 === 0),
    feedForward: (g, x, at) => mixture(g, x, (name) => at(`mlp.${name}`), c),
  })),
});
