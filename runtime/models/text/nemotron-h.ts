import * as z from 'zod';
import type { Decoder } from '../bases/decoder/decoder.js';
import { decoderHeads } from '../bases/decoder/decoder-heads.js';
import { type At, chooseBySigmoid, count, sigmoidConfig } from '../bases/decoder/routed-experts.js';
import { epsilon, labelCount, labels, size } from '../config-fields.js';
import { defineFamily } from '../family.js';
import { activation } from '../layers/activation.js';
import type { DecoderInputs } from '../layers/decoder-inputs.js';
import { embedding, linear, tableScores } from '../layers/linear.js';
import { stateSpace } from '../layers/mamba2-scan.js';
import { expertsSum, overTokens } from '../layers/moe.js';
import { rmsNorm } from '../layers/norm.js';
import { selfAttention } from '../layers/self-attention.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';

const width = z.int().min(1).max(65_536);
const KINDS = ['mamba', 'attention', 'moe', 'mlp'] as const;
type Kind = (typeof KINDS)[number];

/** Letters of a pattern, which older files have. */
const LETTERS: Readonly<Record<string, Kind>> = { M: 'mamba', '*': 'attention', E: 'moe', '-': 'mlp' };

const fields = z.object({
  ...labels,
  ...{
    vocab_size: size.default(131_072),
    hidden_size: size.default(4096),
    intermediate_size: size.default(21_504),
  },
  ...{ num_attention_heads: size.default(32), num_key_value_heads: size.nullable().default(8) },
  ...{ head_dim: size.default(128), max_position_embeddings: size.default(4096) },
  pad_token_id: z.int().nullable().default(0),
  layer_norm_epsilon: epsilon.default(1e-5),
  layers_block_type: z.array(z.enum(KINDS)).min(1).max(1024).nullish(),
  hybrid_override_pattern: z
    .string()
    .regex(/^[ME*-]{1,1024}$/, 'has other letters than M, E, * and -')
    .nullish(),
  ...{ mlp_hidden_act: z.string().default('relu2'), mlp_bias: z.boolean().default(false) },
  ...{
    ssm_state_size: width.default(128),
    mamba_num_heads: width.default(128),
    mamba_head_dim: width.default(64),
  },
  ...{ mamba_hidden_act: z.string().default('silu'), n_groups: width.default(8) },
  conv_kernel: z.int().min(2).max(64).default(4),
  ...{ use_conv_bias: z.boolean().default(true), use_bias: z.boolean().default(false) },
  time_step_min: z.number().min(0).default(0.001),
  ...{ n_routed_experts: count.default(8), num_experts_per_tok: count.default(2) },
  ...{ moe_intermediate_size: size.default(7688), moe_shared_expert_intermediate_size: size.default(7688) },
  ...{ moe_latent_size: size.nullish(), routed_scaling_factor: z.number().default(1), ...sigmoidConfig },
});

const config = fields.transform((c) => ({ ...c, kinds: kindsOf(c) }));
type Config = z.output<typeof config>;

const kindsOf = (c: z.output<typeof fields>): readonly Kind[] =>
  c.layers_block_type ??
  (c.hybrid_override_pattern
    ? c.hybrid_override_pattern.split('').map((letter) => LETTERS[letter]!)
    : ['mamba', 'moe', 'attention', 'mlp']);

interface Layer {
  layer: number;
  at: At;
  c: Config;
}

/** Two layers with an activation between them. */
function mlp(g: GraphWriter, x: Value, at: At, { c, inner }: { c: Config; inner: number }): Value {
  const [from, bias] = [c.hidden_size, c.mlp_bias];
  const wide = linear(g, x, at('up_proj'), { from, to: inner, bias });
  const active = activation(g, wide, c.mlp_hidden_act);
  return linear(g, active, at('down_proj'), { from: inner, to: from, bias });
}

/** Experts without gates, maybe over narrower vectors, and what all tokens go through. */
function mixed(g: GraphWriter, x: Value, { at, c }: Layer): Value {
  const { hidden_size: whole, moe_intermediate_size: inner, moe_latent_size: narrow, mlp_bias: bias } = c;
  const read = narrow ?? whole;
  const experts = overTokens(g, x, whole, (tokens) => {
    const choices = chooseBySigmoid(g, tokens, at, { ...c, gate: 'gate', shut: true });
    const fed = narrow ? linear(g, tokens, at('fc1_latent_proj'), { from: whole, to: narrow, bias }) : tokens;
    const sum = expertsSum(g, fed, choices, {
      width: read,
      compute(rows, through) {
        const layer = (name: string, from: number, to: number) => (own: Value, expert: number) => [
          linear(g, own, at(`experts.${expert}.${name}`), { from, to, bias: false }),
        ];
        const wide = through(rows, layer('up_proj', read, inner))[0]!;
        return through(activation(g, wide, c.mlp_hidden_act), layer('down_proj', inner, read))[0]!;
      },
    });
    return narrow ? linear(g, sum, at('fc2_latent_proj'), { from: narrow, to: whole, bias }) : sum;
  });
  const shared = mlp(g, x, (name) => at(`shared_experts.${name}`), {
    ...{ c, inner: c.moe_shared_expert_intermediate_size },
  });
  return g.node('Add', [experts, shared]);
}

function attend(g: GraphWriter, x: Value, inputs: DecoderInputs, { layer, at, c }: Layer): Value {
  const { hidden_size: from, num_attention_heads: heads, head_dim: each } = c;
  const keyHeads = c.num_key_value_heads ?? heads;
  const project = (name: string, of: number) =>
    linear(g, x, at(`${name}_proj`), { from, to: of * each, bias: false });
  const projected = {
    query: project('q', heads),
    key: project('k', keyHeads),
    value: project('v', keyHeads),
  };
  const size = { layer, heads, keyHeads, width: each, scale: each ** -0.5 };
  const attended = selfAttention(g, inputs, projected, size);
  return linear(g, attended, at('o_proj'), { from: heads * each, to: from, bias: false });
}

function remember(g: GraphWriter, x: Value, inputs: DecoderInputs, { layer, at, c }: Layer): Value {
  return stateSpace(g, x, inputs, {
    ...{ layer, at, width: c.hidden_size, heads: c.mamba_num_heads, headWidth: c.mamba_head_dim },
    ...{ groups: c.n_groups, normGroups: c.n_groups, state: c.ssm_state_size, kernel: c.conv_kernel },
    ...{ epsilon: c.layer_norm_epsilon, act: c.mamba_hidden_act, leastAtFirst: c.time_step_min },
    bias: { convolution: c.use_conv_bias, input: c.use_bias, output: c.use_bias },
  });
}

const MIXERS: Record<Kind, (g: GraphWriter, x: Value, inputs: DecoderInputs, of: Layer) => Value> = {
  mamba: remember,
  attention: attend,
  moe: (g, x, _, of) => mixed(g, x, of),
  mlp: (g, x, _, { at, c }) => mlp(g, x, at, { c, inner: c.intermediate_size }),
};

function decoder(c: Config): Decoder {
  const { hidden_size: whole, vocab_size: vocabulary, layer_norm_epsilon: own } = c;
  const table = { own: 'lm_head.weight', tied: 'backbone.embeddings.weight' };
  const norm = { width: whole, epsilon: own };
  return {
    ...{ layers: c.kinds.length, width: whole, vocabulary, labels: labelCount(c) },
    ...{ keyHeads: c.num_key_value_heads ?? c.num_attention_heads, headWidth: c.head_dim },
    padId: c.pad_token_id ?? undefined,
    embed: (g, ids) => embedding(g, ids, 'backbone.embeddings', { rows: vocabulary, width: whole }),
    layer(g, x, layer, inputs) {
      const at = (name: string) => `backbone.layers.${layer}.${name}`;
      const read = rmsNorm(g, x, at('norm'), norm);
      const mixer = MIXERS[c.kinds[layer]!];
      return g.node('Add', [x, mixer(g, read, inputs, { layer, at: (name) => at(`mixer.${name}`), c })]);
    },
    finish: (g, x) => rmsNorm(g, x, 'backbone.norm_f', norm),
    // The class has a head of its own, whatever a file says.
    scores: (g, x) => tableScores(g, x, table, { rows: vocabulary, width: whole, tie: false }),
  };
}

const { 'causal-lm': languageModel, embedding: states } = decoderHeads<Config>(decoder);

/** One mixer a layer: a state, attention without turned heads, experts, or two layers. modeling_nemotron_h.py */
export const nemotronH = defineFamily({
  modelTypes: ['nemotron_h'],
  memory: {
    layers: (c: Config) => c.kinds.length,
    keyLayers: (c: Config) => c.kinds.filter((kind) => kind === 'attention').length,
  },
  config,
  limits: [
    'Python bounds the steps of prompts below, not those of single tokens: a prompt whose last part is fed as one token has none there.',
  ],
  prefixes: ['backbone.'],
  parts: { 'backbone.': ['backbone.', 'model.', ''] },
  heads: { 'causal-lm': languageModel, embedding: states },
});
