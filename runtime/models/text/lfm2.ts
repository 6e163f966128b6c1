import * as z from 'zod';
import { defineFamily } from '../family.js';
import { causalConvolution } from '../layers/causal-convolution.js';
import type { DecoderInputs } from '../layers/decoder-inputs.js';
import { gatedFeedForward } from '../layers/swiglu.js';
import { linear } from '../layers/linear.js';
import { GraphError } from '../writer/errors.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { eachLayerIn, epsilon, size } from '../config-fields.js';
import { llamaConfig, llamaSizes, usualSizes } from '../bases/decoder/llama-config.js';
import { type LlamaLike, llamaLike, type LayerNames } from '../bases/decoder/llama-decoder.js';

const config = z
  .object({
    ...llamaConfig,
    ...usualSizes({ vocabulary: 65_536, width: 2560, inner: 12_288, layers: 32, heads: 32 }),
    num_key_value_heads: size.nullable().default(8),
    max_position_embeddings: size.default(128_000),
    rope_theta: z.number().positive().default(1e6),
    norm_eps: epsilon.default(1e-5),
    pad_token_id: z.int().nullable().default(0),
    tie_word_embeddings: z.boolean().default(true),
    conv_bias: z.boolean().default(false),
    conv_L_cache: z.int().min(2).max(64).default(3),
    block_multiple_of: size.default(256),
    block_ffn_dim_multiplier: z.number().positive().max(1024).nullable().default(1),
    block_auto_adjust_ff_dim: z.boolean().default(true),
    full_attn_idxs: z.array(z.int()).nullish(),
    layer_types: z.array(z.enum(['full_attention', 'conv'])).nullish(),
    // What its makers called some of them.
    ...{ theta: z.number().positive().optional(), block_ff_dim: size.optional() },
    tie_embedding: z.boolean().optional(),
  })
  .refine(...eachLayerIn('layer_types'));
type Config = z.output<typeof config>;

/** Two thirds of what is given, filled up, unless it is meant as it is. */
function innerWidth(c: Config): number {
  const given = c.block_ff_dim ?? c.intermediate_size;
  if (!c.block_auto_adjust_ff_dim) return given;
  const part = Math.floor((2 * given) / 3);
  if (c.block_ffn_dim_multiplier === null) return part;
  return Math.ceil(Math.floor(c.block_ffn_dim_multiplier * part) / c.block_multiple_of) * c.block_multiple_of;
}

/** Of a gated layer. */
export const EXPERT_NAMES = { gate: 'w1', up: 'w3', down: 'w2' };

/** A short convolution over gated states, gated again: float32 [rows, tokens, width]. */
function convolve(
  g: GraphWriter,
  x: Value,
  inputs: DecoderInputs,
  { layer, at, c }: LayerNames & { c: Convolutions },
): Value {
  const { hidden_size: width, conv_bias: bias, conv_L_cache: kernel } = c;
  const all = linear(g, x, at('conv.in_proj'), { from: width, to: 3 * width, bias });
  const [before, behind, own] = g.nodes('Split', [all, g.ints([width, width, width])], {
    ...{ outputs: 3, attributes: { axis: -1 } },
  }) as [Value, Value, Value];
  const read = g.node('Mul', [before, own]);
  const size = { layer, channels: width, kernel, bias, name: at('conv.conv') };
  const found = g.node('Mul', [behind, causalConvolution(g, read, inputs, size)]);
  return linear(g, found, at('conv.out_proj'), { from: width, to: width, bias });
}

type Convolutions = Pick<
  Config,
  'hidden_size' | 'conv_bias' | 'conv_L_cache' | 'num_hidden_layers' | 'norm_eps'
>;

/**
 * What the families of this kind share: names, and convolutions in the layers that do not attend.
 * @throws GraphError where none attends: Python's cache asks for the first one
 */
export function convolutional(c: Convolutions, attends: (layer: number) => boolean) {
  if (!Array.from({ length: c.num_hidden_layers }, (_, i) => i).some(attends))
    throw new GraphError('config.json: no layer attends');
  return {
    ...{ epsilon: c.norm_eps, headNorms: 'head' },
    names: {
      ...{ norm: 'model.embedding_norm', attentionNorm: 'operator_norm', feedForwardNorm: 'ffn_norm' },
      ...{ output: 'self_attn.out_proj' },
      ...{ queryNorm: 'self_attn.q_layernorm', keyNorm: 'self_attn.k_layernorm' },
    },
    bias: {},
    attend: (g, x, inputs, of) => (attends(of.layer) ? undefined : convolve(g, x, inputs, { ...of, c })),
  } satisfies Partial<LlamaLike>;
}

/** Most layers are short convolutions, some attend. modeling_lfm2.py */
export const lfm2 = defineFamily({
  modelTypes: ['lfm2'],
  config,
  ...llamaLike<Config>((given) => {
    const c = { ...given, rope_theta: given.theta ?? given.rope_theta };
    const attends = (layer: number) =>
      c.layer_types ? c.layer_types[layer] === 'full_attention' : (c.full_attn_idxs?.includes(layer) ?? true);
    const [inner, width] = [innerWidth(c), c.hidden_size];
    return {
      ...llamaSizes(c),
      ...convolutional(c, attends),
      tie: c.tie_embedding ?? c.tie_word_embeddings,
      feedForward: (g, x, at) =>
        gatedFeedForward(g, x, (name) => at(`feed_forward.${name}`), {
          ...{ width, inner, act: 'silu', names: EXPERT_NAMES },
        }),
    };
  }),
});
