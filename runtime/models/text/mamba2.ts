import * as z from 'zod';
import { defineFamily } from '../family.js';
import { decoderHeads } from '../bases/decoder/decoder-heads.js';
import type { Decoder } from '../bases/decoder/decoder.js';
import { embedding, tableScores } from '../layers/linear.js';
import { rmsNorm } from '../layers/norm.js';
import { mambaSizes, stateSpace } from '../layers/mamba2-scan.js';
import { epsilon, isOfVersion5, labelCount, labels, layers, library, size } from '../config-fields.js';

const count = z.int().min(1).max(65536);

const bound = z.union([z.number(), z.literal(Infinity)]);

const config = z.object({
  ...labels,
  ...library,
  vocab_size: size.default(32_768),
  hidden_size: size.default(4096),
  num_hidden_layers: layers.default(64),
  num_heads: count.default(128),
  head_dim: count.default(64),
  state_size: count.default(128),
  n_groups: count.default(8),
  expand: z.number().positive().max(64).default(2),
  conv_kernel: z.int().min(2).max(64).default(4),
  ...{ use_bias: z.boolean().default(false), use_conv_bias: z.boolean().default(true) },
  hidden_act: z.string().default('silu'),
  layer_norm_epsilon: epsilon.default(1e-5),
  time_step_limit: z.tuple([bound, bound]).default([0, Infinity]),
  tie_word_embeddings: z.boolean().default(false),
  pad_token_id: z.int().nullable().default(1),
});
type Config = z.output<typeof config>;

function model(c: Config): Decoder {
  const { hidden_size: width, vocab_size: vocabulary, layer_norm_epsilon: epsilon } = c;
  const sizes = mambaSizes({
    ...{ hidden_size: width, num_hidden_layers: c.num_hidden_layers, mamba_expand: c.expand },
    ...{ mamba_n_heads: c.num_heads, mamba_d_head: c.head_dim, mamba_n_groups: c.n_groups },
    ...{ mamba_d_state: c.state_size, mamba_d_conv: c.conv_kernel },
    ...{ mamba_conv_bias: c.use_conv_bias, mamba_proj_bias: c.use_bias },
  });
  return {
    ...{
      layers: c.num_hidden_layers,
      width,
      vocabulary,
      labels: labelCount(c),
      padId: c.pad_token_id ?? undefined,
    },
    // Nothing is kept in such heads.
    ...{ keyHeads: 1, headWidth: 1 },
    embed: (g, ids) => embedding(g, ids, 'backbone.embeddings', { rows: vocabulary, width }),
    layer(g, x, layer, inputs) {
      const at = (name: string) => `backbone.layers.${layer}.${name}`;
      const read = rmsNorm(g, x, at('norm'), { width, epsilon });
      const found = stateSpace(g, read, inputs, {
        ...{ ...sizes, layer, epsilon, act: c.hidden_act, limits: c.time_step_limit },
        normGroups: isOfVersion5(c) ? c.n_groups : 1,
        at: (name) => at(`mixer.${name}`),
      });
      return g.node('Add', [x, found]);
    },
    finish: (g, x) => rmsNorm(g, x, 'backbone.norm_f', { width, epsilon }),
    scores: (g, x) =>
      tableScores(
        g,
        x,
        { own: 'lm_head.weight', tied: 'backbone.embeddings.weight' },
        { rows: vocabulary, width, tie: c.tie_word_embeddings },
      ),
  };
}

const { 'causal-lm': languageModel, embedding: states } = decoderHeads<Config>(model);

/** All layers keep a state, none attends. In version 5 groups are normed by themselves. modeling_mamba2.py */
export const mamba2 = defineFamily({
  modelTypes: ['mamba2'],
  memory: { keyLayers: () => 0 },
  config,
  prefixes: ['backbone.'],
  older: { 'embeddings.weight': 'embedding.weight' },
  heads: { 'causal-lm': languageModel, embedding: states },
});
