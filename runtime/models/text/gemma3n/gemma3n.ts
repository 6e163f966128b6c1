import { defineFamily } from '../../family.js';
import { softCap } from '../../layers/cached-attention.js';
import { decoderHeads } from '../../bases/decoder/decoder-heads.js';
import type { Decoder } from '../../bases/decoder/decoder.js';
import { embedding, tableScores } from '../../layers/linear.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import { labelCount } from '../../config-fields.js';
import { config, type Config, type Layer } from './config.js';
import { normed, times } from './norm.js';
import { attend, beside, feedForward } from './parts.js';
import { alike, corrected, one, predicted } from './states.js';
import { TOKENS, tokensSay, withToken } from './tokens.js';

function model(c: Config): Decoder {
  const { hidden_size: width, vocab_size: vocabulary, altup_num_inputs: n, final_logit_softcapping: cap } = c;
  const others = Array.from({ length: n - 1 }, (_, i) => i);
  const split = (g: GraphWriter, x: Value) => g.node('Reshape', [x, g.ints([0, 0, n, width])]);
  const joined = (g: GraphWriter, states: Value) => g.node('Reshape', [states, g.ints([0, 0, n * width])]);
  return {
    ...{
      layers: c.num_hidden_layers,
      width,
      vocabulary,
      labels: labelCount(c),
      padId: c.pad_token_id ?? undefined,
    },
    ...{ keyHeads: c.num_key_value_heads, headWidth: c.head_dim },
    embed: (g, ids) =>
      times(g, embedding(g, ids, 'model.embed_tokens', { rows: vocabulary, width }), Math.sqrt(width)),
    place(g, x, inputs) {
      g.once(TOKENS, () => tokensSay(g, x, inputs.ids!, c));
      const more = others.map((i) => alike(g, x, `model.altup_projections.${i}`, { like: x, width }));
      return g.node('Concat', [x, ...more], { axis: -1 });
    },
    layer(g, x, layer, inputs) {
      const of: Layer = { c, layer, at: (name) => `model.layers.${layer}.${name}` };
      const prediction = predicted(g, split(g, x), of);
      const active = one(g, prediction, c.altup_active_idx);
      const read = normed(g, active, of.at('input_layernorm'), c);
      const attended = normed(g, attend(g, read, inputs, of), of.at('post_attention_layernorm'), c);
      const sum = g.node('Add', [g.node('Add', [active, attended]), beside(g, read, of)]);
      const middle = times(g, sum, Math.SQRT1_2);
      const fed = feedForward(g, normed(g, middle, of.at('pre_feedforward_layernorm'), c), of);
      const found = g.node('Add', [middle, normed(g, fed, of.at('post_feedforward_layernorm'), c)]);
      return joined(g, withToken(g, corrected(g, { prediction, found }, of), of));
    },
    finish(g, x) {
      const states = split(g, x);
      const first = one(g, states, 0);
      const more = others.map((i) =>
        alike(g, one(g, states, i + 1), `model.altup_unembed_projections.${i}`, { like: first, width }),
      );
      const sum = more.reduce((all, next) => g.node('Add', [all, next]), first);
      return normed(g, times(g, sum, 1 / n), 'model.norm', c);
    },
    scores(g, x) {
      const tables = { own: 'lm_head.weight', tied: 'model.embed_tokens.weight' };
      const scores = tableScores(g, x, tables, { rows: vocabulary, width, tie: c.tie_word_embeddings });
      return cap === null ? scores : softCap(g, scores, cap);
    },
  };
}

const { 'causal-lm': languageModel, embedding: states } = decoderHeads<Config>(model);

/**
 * Several states stand side by side, of which each layer computes one; the last layers read keys and values of former ones.
 * modeling_gemma3n.py
 */
export const gemma3n = defineFamily({
  modelTypes: ['gemma3n_text'],
  config,
  prefixes: ['model.'],
  // As transformers itself saves it.
  older: {
    'per_layer_model_projection.weight': 'per_layer_model.language_model_projection.weight',
  },
  // Under the name that it has beside its towers.
  parts: { 'model.': ['model.language_model.', 'model.'] },
  heads: { 'causal-lm': languageModel, embedding: states },
});
