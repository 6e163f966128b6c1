import * as z from 'zod';
import { defineFamily } from '../family.js';
import { activation } from '../layers/activation.js';
import { alibiMask, bloomSlopes } from '../layers/alibi.js';
import { cachedAttention } from '../layers/cached-attention.js';
import { decoderHeads } from '../bases/decoder/decoder-heads.js';
import type { Decoder } from '../bases/decoder/decoder.js';
import { headWidth } from '../layers/head-sizes.js';
import { embedding, linear, tableScores } from '../layers/linear.js';
import { layerNorm } from '../layers/norm.js';
import { splitGroups } from '../layers/fused-projections.js';
import { epsilon, labelCount, labels, layers, size } from '../config-fields.js';

const config = z
  .object({
    ...labels,
    vocab_size: size.default(250_880),
    ...{ hidden_size: size.default(64), n_embed: size.nullish() },
    ...{ n_layer: layers.default(2), num_hidden_layers: layers.nullish() },
    ...{ n_head: size.default(8), num_attention_heads: size.nullish() },
    layer_norm_epsilon: epsilon.default(1e-5),
    apply_residual_connection_post_layernorm: z.boolean().default(false),
    tie_word_embeddings: z.boolean().default(true),
    pad_token_id: z.int().nullish(),
  })
  // Both names are in use; where a configuration has two, Python takes these.
  .transform((c) => ({
    ...c,
    hidden_size: c.n_embed ?? c.hidden_size,
    n_layer: c.num_hidden_layers ?? c.n_layer,
    n_head: c.num_attention_heads ?? c.n_head,
  }));

function decoderOf(c: z.output<typeof config>): Decoder {
  const { hidden_size: width, vocab_size: vocabulary, n_head: heads } = c;
  const norm = { width, epsilon: c.layer_norm_epsilon };
  const counts = { heads, keyHeads: heads, width: headWidth(width, heads) };
  const slopes = bloomSlopes(heads);
  return {
    ...{ layers: c.n_layer, width, vocabulary, labels: labelCount(c), padId: c.pad_token_id ?? undefined },
    ...{ keyHeads: heads, headWidth: counts.width },
    embed(g, ids) {
      const tokens = embedding(g, ids, 'transformer.word_embeddings', { rows: vocabulary, width });
      return layerNorm(g, tokens, 'transformer.word_embeddings_layernorm', norm);
    },
    layer(g, x, layer, inputs) {
      const at = (name: string) => `transformer.h.${layer}.${name}`;
      const kept = (before: string, normed: string) =>
        c.apply_residual_connection_post_layernorm ? normed : before;
      const read = layerNorm(g, x, at('input_layernorm'), norm);
      const fused = linear(g, read, at('self_attention.query_key_value'), { from: width, to: 3 * width });
      const attended = cachedAttention(g, inputs, splitGroups(g, fused, counts), {
        ...{ layer, ...counts, scale: counts.width ** -0.5, mask: alibiMask(g, inputs, slopes) },
      });
      const square = { from: width, to: width };
      const middle = g.node('Add', [kept(x, read), linear(g, attended, at('self_attention.dense'), square)]);
      const fed = layerNorm(g, middle, at('post_attention_layernorm'), norm);
      const wide = linear(g, fed, at('mlp.dense_h_to_4h'), { from: width, to: 4 * width });
      const act = activation(g, wide, 'gelu_new');
      const narrow = linear(g, act, at('mlp.dense_4h_to_h'), { from: 4 * width, to: width });
      return g.node('Add', [kept(middle, fed), narrow]);
    },
    finish: (g, x) => layerNorm(g, x, 'transformer.ln_f', norm),
    scores(g, x) {
      const names = { own: 'lm_head.weight', tied: 'transformer.word_embeddings.weight' };
      return tableScores(g, x, names, { rows: vocabulary, width, tie: c.tie_word_embeddings });
    },
  };
}

/** Positions are added to scores. modeling_bloom.py */
export const bloom = defineFamily({
  modelTypes: ['bloom'],
  readers: { positions: 'distance' },
  config,
  prefixes: ['transformer.'],
  heads: decoderHeads(decoderOf),
});
