import { z } from 'zod';
import { defineArchitecture } from '../architecture.js';
import { activation } from '../blocks/activation.js';
import { decoderHeads } from '../blocks/decoder.js';
import type { Decoder } from '../blocks/decoder-model.js';
import { headWidth } from '../blocks/heads.js';
import { conv1d, embedding, tableScores } from '../blocks/linear.js';
import { layerNorm } from '../blocks/norm.js';
import { splitRows } from '../blocks/projections.js';
import { selfAttention } from '../blocks/self-attention.js';
import { epsilon, labelCount, labels, layers, size } from './config.js';

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

function decoderOf(c: Gpt2Config): Decoder {
  const { n_embd: width, vocab_size: vocabulary, n_head: heads } = c;
  const widthOfHead = headWidth(width, heads);
  const inner = c.n_inner ?? 4 * width;
  const norm = { width, epsilon: c.layer_norm_epsilon };
  const counts = { heads, keyHeads: heads, width: widthOfHead };
  const scaleOf = (layer: number) =>
    (c.scale_attn_weights ? widthOfHead ** -0.5 : 1) / (c.scale_attn_by_inverse_layer_idx ? layer + 1 : 1);
  return {
    ...{ layers: c.n_layer, width, vocabulary, labels: labelCount(c), padId: c.pad_token_id ?? undefined },
    ...{ keyHeads: heads, headWidth: widthOfHead },
    embed: (g, ids) => embedding(g, ids, 'transformer.wte', { rows: vocabulary, width }),
    place(g, x, { positions }) {
      const places = embedding(g, positions, 'transformer.wpe', { rows: c.n_positions, width });
      return g.node('Add', [x, places]);
    },
    layer(g, x, layer, inputs) {
      const at = (name: string) => `transformer.h.${layer}.${name}`;
      const fused = conv1d(g, layerNorm(g, x, at('ln_1'), norm), at('attn.c_attn'), {
        from: width,
        to: 3 * width,
      });
      const attended = selfAttention(g, inputs, splitRows(g, fused, counts), {
        ...{ layer, ...counts, scale: scaleOf(layer) },
      });
      const projected = conv1d(g, attended, at('attn.c_proj'), { from: width, to: width });
      const middle = g.node('Add', [x, projected]);
      const wide = conv1d(g, layerNorm(g, middle, at('ln_2'), norm), at('mlp.c_fc'), {
        from: width,
        to: inner,
      });
      const act = activation(g, wide, c.activation_function);
      return g.node('Add', [middle, conv1d(g, act, at('mlp.c_proj'), { from: inner, to: width })]);
    },
    finish: (g, x) => layerNorm(g, x, 'transformer.ln_f', norm),
    scores(g, x) {
      const names = { own: 'lm_head.weight', tied: 'transformer.wte.weight' };
      return tableScores(g, x, names, { rows: vocabulary, width, tie: c.tie_word_embeddings });
    },
  };
}

/** Learned positions, fused projections stored as [in, out]. modeling_gpt2.py */
export const gpt2 = defineArchitecture({
  modelTypes: ['gpt2'],
  config: gpt2Config,
  prefixes: ['transformer.'],
  heads: decoderHeads(decoderOf),
});
