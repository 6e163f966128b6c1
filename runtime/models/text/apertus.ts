import * as z from 'zod';
import { defineFamily } from '../family.js';
import { float } from '../writer/attributes.js';
import { activation } from '../layers/activation.js';
import { linear } from '../layers/linear.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { BFLOAT16, ELEMENTS } from '../writer/tensors.js';
import { epsilon, size } from '../config-fields.js';
import { llamaConfig, llamaSizes, usualSizes } from '../bases/decoder/llama-config.js';
import { llamaLike } from '../bases/decoder/llama-decoder.js';

const LLAMA3 = { rope_type: 'llama3', factor: 8, low_freq_factor: 1, high_freq_factor: 4 };

const apertusConfig = z.object({
  ...llamaConfig,
  ...usualSizes({ vocabulary: 131_072, width: 4096, inner: 14_336, layers: 32, heads: 32 }),
  hidden_act: z.string().default('xielu'),
  max_position_embeddings: size.default(65_536),
  rms_norm_eps: epsilon.default(1e-5),
  rope_theta: z.number().positive().default(12e6),
  rope_scaling: z
    .record(z.string(), z.unknown())
    .nullable()
    .default({ ...LLAMA3, original_max_position_embeddings: 8192 }),
  pad_token_id: z.int().nullable().default(3),
});

type Apertus = z.output<typeof apertusConfig>;

/** What xIELU takes where a checkpoint leaves it out. */
const [BETA, EPSILON] = [0.5, -1e-6];

/** a·x² + b·x above zero, c·(eˣ - 1 - x) + b·x below, whose a and c are learned (xIELU). */
function xielu(g: GraphWriter, x: Value, at: (name: string) => string): Value {
  // Python keeps these in 16 bits, whatever it computes in.
  const half = (value: Value) =>
    g.node('Cast', [g.node('Cast', [value], { to: BFLOAT16 })], { to: ELEMENTS.float32 });
  const constant = (name: string, usual: number) =>
    half(g.weights.has(at(name)) ? g.weight(at(name), []) : g.scalar(usual));
  const [beta, epsilon] = [constant('beta', BETA), constant('eps', EPSILON)];
  const learned = (name: string) => half(g.node('Softplus', [half(g.weight(at(name), [1]))]));
  const straight = g.node('Mul', [x, beta]);
  const square = g.node('Mul', [g.node('Mul', [x, x]), learned('alpha_p')]);
  const curve = g.node('Sub', [g.node('Elu', [g.node('Min', [x, epsilon])], { alpha: float(1) }), x]);
  const below = g.node('Mul', [curve, half(g.node('Add', [learned('alpha_n'), beta]))]);
  const bent = g.node('Where', [g.node('Greater', [x, g.scalar(0)]), square, below]);
  return g.node('Add', [bent, straight]);
}

function apertusFeedForward(g: GraphWriter, x: Value, at: (name: string) => string, c: Apertus): Value {
  const { hidden_size: width, intermediate_size: inner, hidden_act: act } = c;
  const wide = linear(g, x, at('mlp.up_proj'), { from: width, to: inner, bias: false });
  const found =
    act === 'xielu' ? xielu(g, wide, (name) => at(`mlp.act_fn.${name}`)) : activation(g, wide, act);
  return linear(g, found, at('mlp.down_proj'), { from: inner, to: width, bias: false });
}

/** modeling_apertus.py */
export const apertus = defineFamily({
  modelTypes: ['apertus'],
  readers: { messages: 'plain' },
  config: apertusConfig,
  ...llamaLike<Apertus>((c) => ({
    ...llamaSizes(c),
    names: { attentionNorm: 'attention_layernorm', feedForwardNorm: 'feedforward_layernorm' },
    headNorms: 'head',
    feedForward: (g, x, at) => apertusFeedForward(g, x, at, c),
  })),
});
