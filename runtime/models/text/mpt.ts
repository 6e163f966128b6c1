import { named } from '../inert-fields.js';
import * as z from 'zod';
import { defineFamily } from '../family.js';
import { alibiMask, mptSlopes } from '../layers/alibi.js';
import { cachedAttention } from '../layers/cached-attention.js';
import { decoderHeads } from '../bases/decoder/decoder-heads.js';
import type { Decoder } from '../bases/decoder/decoder.js';
import { headWidth } from '../layers/head-sizes.js';
import { embedding, linear, tableScores } from '../layers/linear.js';
import { layerNorm } from '../layers/norm.js';
import { splitRows } from '../layers/fused-projections.js';
import { epsilon, labelCount, labels, layers, size } from '../config-fields.js';

const attention = z.object({
  clip_qkv: z.number().min(0).nullish(),
  softmax_scale: z.number().positive().nullish(),
  qk_ln: z.literal(false, 'norms of queries and keys are not known').default(false),
  prefix_lm: z.literal(false, 'prefixes that see themselves are not known').default(false),
});

const config = z.object({
  ...labels,
  ...{ vocab_size: size.default(50_368), d_model: size.default(2048) },
  ...{ n_heads: size.default(16), n_layers: layers.default(24) },
  layer_norm_epsilon: epsilon.default(1e-5),
  attn_config: attention.prefault({}),
  tie_word_embeddings: z.boolean().default(true),
  pad_token_id: z.int().nullish(),
});

function decoderOf(c: z.output<typeof config>): Decoder {
  const { d_model: width, vocab_size: vocabulary, n_heads: heads } = c;
  const { clip_qkv: clip, softmax_scale: scale } = c.attn_config;
  const norm = { width, epsilon: c.layer_norm_epsilon, bias: false };
  const counts = { heads, keyHeads: heads, width: headWidth(width, heads) };
  const slopes = mptSlopes(heads);
  return {
    ...{ layers: c.n_layers, width, vocabulary, labels: labelCount(c), padId: c.pad_token_id ?? undefined },
    ...{ keyHeads: heads, headWidth: counts.width },
    embed: (g, ids) => embedding(g, ids, 'transformer.wte', { rows: vocabulary, width }),
    layer(g, x, layer, inputs) {
      const at = (name: string) => `transformer.blocks.${layer}.${name}`;
      const plain = (read: string, name: string, [from, to]: [number, number]) =>
        linear(g, read, at(name), { from, to, bias: false });
      const all = plain(layerNorm(g, x, at('norm_1'), norm), 'attn.Wqkv', [width, 3 * width]);
      const fused = clip ? g.node('Clip', [all, g.scalar(-clip), g.scalar(clip)]) : all;
      const attended = cachedAttention(g, inputs, splitRows(g, fused, counts), {
        ...{ layer, ...counts, scale: scale ?? counts.width ** -0.5 },
        mask: alibiMask(g, inputs, slopes, { fromEnd: true }),
      });
      const middle = g.node('Add', [x, plain(attended, 'attn.out_proj', [width, width])]);
      const wide = plain(layerNorm(g, middle, at('norm_2'), norm), 'ffn.up_proj', [width, 4 * width]);
      return g.node('Add', [middle, plain(g.node('Gelu', [wide]), 'ffn.down_proj', [4 * width, width])]);
    },
    finish: (g, x) => layerNorm(g, x, 'transformer.norm_f', norm),
    scores(g, x) {
      const names = { own: 'lm_head.weight', tied: 'transformer.wte.weight' };
      return tableScores(g, x, names, { rows: vocabulary, width, tie: c.tie_word_embeddings });
    },
  };
}

/** Positions are added to scores; nothing has a bias. modeling_mpt.py */
export const mpt = defineFamily({
  modelTypes: ['mpt'],
  inert: [
    { fields: named('max_seq_len'), reason: 'the class computes its biases for the length of the text' },
    { fields: named('alibi_bias_max'), part: 'attn_config', reason: 'the class computes its biases with 8' },
  ],
  config,
  prefixes: ['transformer.'],
  heads: decoderHeads(decoderOf),
});
