import * as z from 'zod';
import { defineFamily } from '../family.js';
import { chosenFeedForward, type Choices } from '../layers/moe.js';
import { linear } from '../layers/linear.js';
import { layerNorm } from '../layers/norm.js';
import type { RotaryConfig } from '../layers/rope-frequencies.js';
import { GraphError } from '../writer/errors.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { epsilon, isOfVersion5, library, size } from '../config-fields.js';
import { llamaConfig, llamaSizes, usualSizes } from '../bases/decoder/llama-config.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';

const config = z.object({
  ...llamaConfig,
  ...library,
  ...usualSizes({ vocabulary: 32_064, width: 4096, inner: 6400, layers: 32, heads: 32 }),
  num_key_value_heads: size.nullable().default(8),
  max_position_embeddings: size.default(131_072),
  rms_norm_eps: epsilon.default(1e-5),
  rope_theta: z.number().positive().default(1e6),
  sliding_window: z.int().min(1).nullish(),
  num_local_experts: z.int().min(2).max(1024).default(16),
  num_experts_per_tok: z.literal(2).default(2),
  router_jitter_noise: z.number().min(0).default(0.01),
  lm_head_bias: z.boolean().default(false),
});
type Config = z.output<typeof config>;

/** Of a score that takes no part. */
const LEAST = -1e30;

/**
 * The two best of the scores; the share of each is that of its softmax among those that are about as good, the second one's
 * without the first ("sparsemixer").
 */
function choose(g: GraphWriter, tokens: Value, router: string, c: Config): Choices {
  const experts = c.num_local_experts;
  const scores = linear(g, tokens, router, { from: c.hidden_size, to: experts, bias: false, isExact: true });
  const [best, which] = g.nodes('TopK', [scores, g.ints([2])], {
    ...{ outputs: 2, attributes: { axis: -1 } },
  }) as [Value, Value];
  const column = (of: Value, i: number) => g.node('Gather', [of, g.ints([i])], { axis: 1 });
  const share = (left: Value, most: Value) => {
    const scale = g.node('Max', [g.node('Abs', [scores]), most]);
    const distance = g.node('Div', [g.node('Sub', [most, scores]), scale]);
    const isFar = g.node('Greater', [distance, g.scalar(2 * c.router_jitter_noise)]);
    const near = g.node('Where', [isFar, g.scalar(LEAST), left]);
    return g.node('ReduceMax', [g.node('Softmax', [near], { axis: -1 }), g.ints([1])], { keepdims: 1 });
  };
  const numbers = Array.from({ length: experts }, (_, i) => i);
  const isFirst = g.node('Equal', [g.ints(numbers, [1, experts]), column(which, 0)]);
  const others = g.node('Where', [isFirst, g.scalar(LEAST), scores]);
  const shares = [share(scores, column(best, 0)), share(others, column(best, 1))];
  return { experts, which, weights: g.node('Concat', shares, { axis: 1 }) };
}

/** Version 5 asks for frequencies without the length of the text: all texts have those of short ones. */
const shortOnly = ({ short_factor: factors }: Record<string, unknown>) => ({ long_factor: factors });

/** Longer texts have factors of their own for cosine and sine, in place of what follows from their length. */
function turns(c: Config): RotaryConfig {
  const { short_mscale: short, long_mscale: long } = c.rope_scaling ?? {};
  if (!c.rope_scaling) return c;
  if (typeof short !== 'number' || short !== long)
    throw new GraphError('config.json: short_mscale and long_mscale of rope_scaling are not the same number');
  const original = c.rope_scaling['original_max_position_embeddings'];
  return {
    ...c,
    ...(typeof original === 'number' && { original_max_position_embeddings: original }),
    rope_scaling: {
      ...c.rope_scaling,
      attention_factor: short,
      ...(isOfVersion5(c) && shortOnly(c.rope_scaling)),
    },
  };
}

function mixture(g: GraphWriter, x: Value, at: (name: string) => string, c: Config): Value {
  const { hidden_size: width, intermediate_size: inner, hidden_act: act } = c;
  const names = { gate: 'w1', up: 'w3', down: 'w2' };
  return chosenFeedForward(g, x, at, {
    ...{ width, inner, act, names, choose: (tokens) => choose(g, tokens, at('gate'), c) },
  });
}

/** LayerNorms, and a mixture of two experts. modeling_phimoe.py */
export const phimoe = defineFamily({
  modelTypes: ['phimoe'],
  readers: { rope: 'recomputed' },
  limits: [
    'Beams of a "longrope" text that grow beyond its first length while it is written are refused.',
    'Prompts beyond that length are read in one run, which takes more memory, and keep no prefix for the next one.',
  ],
  config,
  // In memory, version 5 calls the same `mlp`.
  older: {
    'block_sparse_moe.gate.weight': 'mlp.router.weight',
    'block_sparse_moe.experts.gate_up_proj': 'mlp.experts.gate_up_proj',
    'block_sparse_moe.experts.down_proj': 'mlp.experts.down_proj',
  },
  ...llamaLike<Config>((c) => {
    const rotary = turns(c);
    return {
      ...llamaSizes({ ...c, head_dim: null }),
      ...{ norm: layerNorm, scoresBias: c.lm_head_bias, rotary: () => rotary },
      window: () => c.sliding_window ?? undefined,
      feedForward: (g, x, at) => mixture(g, x, (name) => at(`block_sparse_moe.${name}`), c),
    };
  }),
});
