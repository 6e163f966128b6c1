import * as z from 'zod';
import { defineFamily } from '../family.js';
import { activation } from '../layers/activation.js';
import { decoderHeads } from '../bases/decoder/decoder-heads.js';
import type { Decoder } from '../bases/decoder/decoder.js';
import { headWidth } from '../layers/head-sizes.js';
import { conv1d, embedding, tableScores } from '../layers/linear.js';
import { layerNorm } from '../layers/norm.js';
import { type HeadCounts, splitRows } from '../layers/fused-projections.js';
import { selfAttention } from '../layers/self-attention.js';
import type { Projected } from '../layers/cached-attention.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { epsilon, labelCount, labels, layers, size } from '../config-fields.js';

/** GPT-2's fields. */
export const gpt2Config = z.object({
  ...labels,
  vocab_size: size,
  n_positions: size.default(1024),
  n_embd: size,
  n_layer: layers,
  n_head: size,
  n_inner: size.nullish(),
  activation_function: z.string().default('gelu_new'),
  layer_norm_epsilon: epsilon.default(1e-5),
  scale_attn_weights: z.boolean().default(true),
  scale_attn_by_inverse_layer_idx: z.boolean().default(false),
  tie_word_embeddings: z.boolean().default(true),
  pad_token_id: z.int().nullish(),
});

export type Gpt2Config = z.output<typeof gpt2Config>;

/** How a network with GPT-2's names holds its layers. */
interface Layout {
  dense: typeof conv1d;
  keyHeads: number;
  split(g: GraphWriter, fused: Value, counts: HeadCounts): Projected;
}

export function decoderOf(c: Gpt2Config, { dense, keyHeads, split }: Layout): Decoder {
  const { n_embd: width, vocab_size: vocabulary, n_head: heads } = c;
  const widthOfHead = headWidth(width, heads);
  const inner = c.n_inner ?? 4 * width;
  const norm = { width, epsilon: c.layer_norm_epsilon };
  const counts = { heads, keyHeads, width: widthOfHead };
  const scaleOf = (layer: number) =>
    (c.scale_attn_weights ? widthOfHead ** -0.5 : 1) / (c.scale_attn_by_inverse_layer_idx ? layer + 1 : 1);
  return {
    ...{ layers: c.n_layer, width, vocabulary, labels: labelCount(c), padId: c.pad_token_id ?? undefined },
    ...{ keyHeads, headWidth: widthOfHead },
    embed: (g, ids) => embedding(g, ids, 'transformer.wte', { rows: vocabulary, width }),
    place(g, x, { positions }) {
      const learned = embedding(g, positions, 'transformer.wpe', { rows: c.n_positions, width });
      return g.node('Add', [x, learned]);
    },
    layer(g, x, layer, inputs) {
      const at = (name: string) => `transformer.h.${layer}.${name}`;
      const fused = dense(g, layerNorm(g, x, at('ln_1'), norm), at('attn.c_attn'), {
        from: width,
        to: (heads + 2 * keyHeads) * widthOfHead,
      });
      const attended = selfAttention(g, inputs, split(g, fused, counts), {
        ...{ layer, ...counts, scale: scaleOf(layer) },
      });
      const projected = dense(g, attended, at('attn.c_proj'), { from: width, to: width });
      const middle = g.node('Add', [x, projected]);
      const wide = dense(g, layerNorm(g, middle, at('ln_2'), norm), at('mlp.c_fc'), {
        from: width,
        to: inner,
      });
      const act = activation(g, wide, c.activation_function);
      return g.node('Add', [middle, dense(g, act, at('mlp.c_proj'), { from: inner, to: width })]);
    },
    finish: (g, x) => layerNorm(g, x, 'transformer.ln_f', norm),
    scores(g, x) {
      const names = { own: 'lm_head.weight', tied: 'transformer.wte.weight' };
      return tableScores(g, x, names, { rows: vocabulary, width, tie: c.tie_word_embeddings });
    },
  };
}

/** Learned positions, fused projections stored as [in, out]. modeling_gpt2.py */
export const gpt2 = defineFamily({
  modelTypes: ['gpt2'],
  readers: { positions: 'learned' },
  conv1d: true,
  config: gpt2Config,
  prefixes: ['transformer.'],
  heads: decoderHeads((c: Gpt2Config) =>
    decoderOf(c, { dense: conv1d, keyHeads: c.n_head, split: splitRows }),
  ),
});
