import type { z } from 'zod';
import { defineFamily } from '../../family.js';
import { decoderHeads } from '../../bases/decoder/decoder-heads.js';
import type { Decoder } from '../../bases/decoder/decoder.js';
import { labelCount } from '../../config-fields.js';
import { softCap } from '../../layers/cached-attention.js';
import { embedding, tableScores } from '../../layers/linear.js';
import { TOKENS, tokensSay } from '../gemma3n/tokens.js';
import { type Gemma4Config, gemma4Config, keyLayers, type Layer } from './config.js';
import { attend, feedForward, normed, withToken } from './parts.js';

export function gemma4Decoder(c: Gemma4Config): Decoder {
  const { hidden_size: width, vocab_size: vocabulary, final_logit_softcapping: cap } = c;
  return {
    ...{ layers: c.num_hidden_layers, width, vocabulary },
    ...{ labels: labelCount(c), padId: c.pad_token_id ?? undefined },
    ...{ keyHeads: c.num_key_value_heads, headWidth: c.head_dim },
    embed: (g, ids) => {
      const found = embedding(g, ids, 'model.embed_tokens', { rows: vocabulary, width });
      return g.node('Mul', [found, g.scalar(Math.sqrt(width))]);
    },
    place(g, x, inputs) {
      if (c.hidden_size_per_layer_input > 0) g.once(TOKENS, () => tokensSay(g, x, inputs.ids!, c));
      return x;
    },
    layer(g, x, layer, inputs) {
      const of: Layer = { c, layer, at: (name) => `model.layers.${layer}.${name}` };
      const read = normed(g, x, of.at('input_layernorm'), c);
      const attended = normed(g, attend(g, read, inputs, of), of.at('post_attention_layernorm'), c);
      const middle = g.node('Add', [x, attended]);
      const fed = normed(g, feedForward(g, middle, of), of.at('post_feedforward_layernorm'), c);
      const found = withToken(g, g.node('Add', [middle, fed]), of);
      return g.node('Mul', [found, g.weight(of.at('layer_scalar'), [1])]);
    },
    finish: (g, x) => normed(g, x, 'model.norm', c),
    scores(g, x) {
      const tables = { own: 'lm_head.weight', tied: 'model.embed_tokens.weight' };
      const scores = tableScores(g, x, tables, { rows: vocabulary, width, tie: c.tie_word_embeddings });
      return cap == null ? scores : softCap(g, scores, cap);
    },
  };
}

const { 'causal-lm': languageModel, embedding: states } = decoderHeads<Gemma4Config>(gemma4Decoder);

/** A family of texts of its own type. */
export const gemma4Text = (type: string, config: z.ZodType<Gemma4Config>) =>
  defineFamily({
    modelTypes: [type],
    memory: { keyLayers },
    config,
    prefixes: ['model.'],
    // Under the name that it has beside its towers.
    parts: { 'model.': ['model.language_model.', 'model.'] },
    heads: { 'causal-lm': languageModel, embedding: states },
  });

/** Layers have heads of two widths, and read what tokens say to them; the last ones read keys of former ones. modeling_gemma4.py */
export const gemma4 = gemma4Text('gemma4_text', gemma4Config);
