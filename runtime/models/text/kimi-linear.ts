import * as z from 'zod';
import { llamaConfig, llamaSizes, usualSizes } from '../bases/decoder/llama-config.js';
import { type LayerNames, llamaLike } from '../bases/decoder/llama-decoder.js';
import {
  chooseBySigmoid,
  count,
  isDense,
  listedLayers,
  sigmoidConfig,
} from '../bases/decoder/routed-experts.js';
import { eachLayerIn, epsilon, size } from '../config-fields.js';
import { defineFamily } from '../family.js';
import { activation } from '../layers/activation.js';
import { causalConvolution } from '../layers/causal-convolution.js';
import type { DecoderInputs } from '../layers/decoder-inputs.js';
import { attendingCount, hasAttention } from '../layers/delta-net.js';
import { deltaRule } from '../layers/delta-rule.js';
import { latentAttention, latentConfig, latentHeadWidth } from '../layers/latent-attention.js';
import { linear } from '../layers/linear.js';
import { chosenFeedForward } from '../layers/moe.js';
import { headNorm } from '../layers/norm.js';
import { gatedFeedForward } from '../layers/swiglu.js';
import { GraphError } from '../writer/errors.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';

const width = z.int().min(1).max(65_536);
const positions = z.array(z.int().min(1).max(1024)).optional();

/** As the makers' files have it; layers are counted from 1. */
const linearConfig = z.object({
  ...{ head_dim: width.optional(), num_heads: width.optional(), short_conv_kernel_size: width.optional() },
  ...{ full_attn_layers: positions, kda_layers: positions },
});

const fields = z.object({
  ...{ ...llamaConfig, ...latentConfig },
  ...usualSizes({ vocabulary: 163_840, width: 2304, inner: 9216, layers: 27, heads: 32 }),
  ...{ num_key_value_heads: size.nullable().default(32), max_position_embeddings: size.default(1_048_576) },
  ...{ rms_norm_eps: epsilon.default(1e-5), q_lora_rank: width.nullable().default(null) },
  pad_token_id: z.int().nullable().default(163_839),
  ...{ ...sigmoidConfig, routed_scaling_factor: z.number().default(2.446) },
  ...{ num_experts: count.default(256), num_experts_per_tok: count.default(8) },
  ...{ num_shared_experts: count.default(1), moe_intermediate_size: size.default(1024) },
  layer_types: z.array(z.enum(['full_attention', 'linear_attention'])).nullish(),
  ...listedLayers,
  first_k_dense_replace: z.int().min(0).default(1),
  ...{ linear_head_dim: width.default(128), linear_num_heads: width.default(32) },
  linear_conv_kernel_dim: z.int().min(2).max(64).default(4),
  linear_attn_config: linearConfig.nullish(),
});

const config = fields
  .transform((c) => ({ ...c, ...linearSizes(c), layer_types: c.layer_types ?? layersOf(c) }))
  .superRefine((c, context) => hasAttention({ ...c, full_attention_interval: 4 }, context))
  .refine(...eachLayerIn('mlp_layer_types'));
type Config = z.output<typeof config>;
type Fields = z.output<typeof fields>;

const linearSizes = ({ linear_attn_config: own, ...c }: Fields) => ({
  linear_head_dim: own?.head_dim ?? c.linear_head_dim,
  linear_num_heads: own?.num_heads ?? c.linear_num_heads,
  linear_conv_kernel_dim: own?.short_conv_kernel_size ?? c.linear_conv_kernel_dim,
});

function layersOf({ num_hidden_layers: layers, linear_attn_config: own }: Fields) {
  const { full_attn_layers: full, kda_layers: kda } = own ?? {};
  const isFull = (i: number) => (full && kda ? full.includes(i + 1) : i > 0 && i % 4 === 0);
  return Array.from({ length: layers }, (_, i) =>
    isFull(i) ? ('full_attention' as const) : ('linear_attention' as const),
  );
}

/** Associations whose numbers fade one by one (KDA): each by what two narrow layers and a rate of its head make of a token. */
function associate(
  g: GraphWriter,
  x: Value,
  inputs: DecoderInputs,
  { layer, at: ofLayer, c }: LayerNames & { c: Config },
): Value {
  const at = (name: string) => ofLayer(`self_attn.${name}`);
  const { hidden_size: from, linear_num_heads: heads, linear_head_dim: each } = c;
  const all = heads * each;
  const project = (name: string, to: number, isExact = false) =>
    linear(g, x, at(`${name}_proj`), { from, to, bias: false, isExact });
  const narrowed = (name: string) =>
    linear(g, project(`${name}_a`, each), at(`${name}_b_proj`), { from: each, to: all, bias: false });
  const mixed = g.node('Concat', [project('q', all), project('k', all), project('v', all)], { axis: -1 });
  const convolved = causalConvolution(g, mixed, inputs, {
    ...{ layer, channels: 3 * all, kernel: c.linear_conv_kernel_dim, bias: false },
    name: g.weights.has(at('conv1d.weight'))
      ? at('conv1d')
      : ['q', 'k', 'v'].map((name) => [at(`${name}_conv1d`), all] as const),
  });
  const [query, key, value] = g.nodes(
    'Split',
    [activation(g, convolved, c.hidden_act), g.ints([all, all, all])],
    { outputs: 3, attributes: { axis: -1 } },
  ) as [Value, Value, Value];
  const read = deltaRule(
    g,
    inputs,
    {
      query,
      key,
      value,
      decay: decays(g, narrowed('f'), at, c),
      share: g.node('Sigmoid', [project('b', heads, true)]),
    },
    { layer, keyHeads: heads, heads, keyWidth: each, valueWidth: each, byChannel: true },
  );
  const normed = headNorm(g, read, at('o_norm'), { heads, width: each, epsilon: c.rms_norm_eps });
  const opened = g.node('Mul', [normed, g.node('Sigmoid', [narrowed('g')])]);
  return linear(g, opened, at('o_proj'), { from: all, to: from, bias: false });
}

/** Logarithms of what is left, float32 [rows, tokens, heads · width]. @param steps of the same, before their bias */
function decays(g: GraphWriter, steps: Value, at: (name: string) => string, c: Config): Value {
  const { linear_num_heads: heads, linear_head_dim: each } = c;
  const positive = g.node('Softplus', [g.node('Add', [steps, g.weight(at('dt_bias'), [heads * each])])]);
  const rates = g.weight(at('A_log'), g.weights.shapeOf(at('A_log')) ?? [heads]);
  const negative = g.node('Neg', [g.node('Exp', [g.node('Reshape', [rates, g.ints([heads, 1])])])]);
  const byHead = g.node('Reshape', [positive, g.ints([0, 0, heads, each])]);
  return g.node('Reshape', [g.node('Mul', [byHead, negative]), g.ints([0, 0, heads * each])]);
}

function mixed(g: GraphWriter, x: Value, at: (name: string) => string, c: Config): Value {
  const { hidden_size: whole, moe_intermediate_size: inner, hidden_act: act } = c;
  const named = (name: string) => at(`block_sparse_moe.${name}`);
  const router = { ...c, n_routed_experts: c.num_experts, gate: 'block_sparse_moe.gate', shut: true };
  const found = chosenFeedForward(g, x, named, {
    ...{ width: whole, inner, act, names: { gate: 'w1', up: 'w3', down: 'w2' } },
    choose: (tokens) => chooseBySigmoid(g, tokens, at, router),
  });
  const shared = gatedFeedForward(g, x, (part) => named(`shared_experts.${part}`), {
    ...{ width: whole, act, inner: inner * c.num_shared_experts },
  });
  return g.node('Add', [found, shared]);
}

/** transformers 5 saves dense layers by the name of mixed ones. */
const SAVED = Object.fromEntries(
  ['gate_proj', 'up_proj', 'down_proj'].map((name) => [
    `mlp.${name}.weight`,
    `block_sparse_moe.${name}.weight`,
  ]),
);

/** Most layers learn associations, others attend as DeepSeek's, their heads not turned. modeling_kimi_linear.py */
export const kimiLinear = defineFamily({
  modelTypes: ['kimi_linear'],
  memory: {
    keyLayers: (c: Config) => attendingCount({ ...c, full_attention_interval: 4 }),
    headWidth: latentHeadWidth,
  },
  config,
  older: SAVED,
  ...llamaLike<Config>((c) => {
    const [heads, whole] = [c.num_attention_heads, latentHeadWidth(c)];
    if ((c.num_key_value_heads ?? heads) !== heads)
      throw new GraphError('config.json: num_key_value_heads other than num_attention_heads are not known');
    const scale = (c.qk_nope_head_dim + c.qk_rope_head_dim) ** -0.5;
    const latent = { ...c, width: c.hidden_size, heads, scale, rotary: undefined, interleaved: false };
    return {
      // The class has a head of its own, whatever a file says.
      ...{ ...llamaSizes({ ...c, head_dim: whole }), keyHeads: heads, tie: false, bias: {} },
      attend: (g, x, inputs, of) =>
        c.layer_types[of.layer] === 'full_attention'
          ? latentAttention(g, x, inputs, {
              ...{ ...latent, layer: of.layer, bias: c.attention_bias === true },
              at: (name) => of.at(`self_attn.${name}`),
            })
          : associate(g, x, inputs, { ...of, c }),
      feedForward: (g, x, at, layer) =>
        isDense(c, layer, c.first_k_dense_replace) ? undefined : mixed(g, x, at, c),
    };
  }),
});
