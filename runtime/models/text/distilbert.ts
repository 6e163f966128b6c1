import { named } from '../inert-fields.js';
import * as z from 'zod';
import { defineFamily } from '../family.js';
import { textInputs } from '../layers/text-inputs.js';
import { firstToken, textHeads, type TextModel } from '../bases/encoder/encoder-heads.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { labelCount, labels, layers, size } from '../config-fields.js';
import {
  bertLayer,
  type LayerNames,
  twoLayerClassifier,
  vocabularyScores,
} from '../bases/encoder/bert-layer.js';
import { bertEmbeddings } from '../bases/encoder/bert-embeddings.js';

const config = z.object({
  ...labels,
  ...{ vocab_size: size, dim: size, hidden_dim: size, n_layers: layers, n_heads: size },
  max_position_embeddings: size.default(512),
  activation: z.string().default('gelu'),
});
type Config = z.output<typeof config>;

const NAMES: LayerNames = {
  query: 'attention.q_lin',
  key: 'attention.k_lin',
  value: 'attention.v_lin',
  output: 'attention.out_lin',
  attentionNorm: 'sa_layer_norm',
  wide: 'ffn.lin1',
  narrow: 'ffn.lin2',
  norm: 'output_layer_norm',
};

const sizesOf = (c: Config) => ({
  ...{ width: c.dim, inner: c.hidden_dim, heads: c.n_heads, epsilon: 1e-12, act: c.activation },
  ...{ vocabulary: c.vocab_size, labels: labelCount(c) },
});

function statesOf(g: GraphWriter, c: Config): Value {
  const { ids, types, padding } = textInputs(g);
  let x = bertEmbeddings(g, { ids, types }, (name) => `distilbert.embeddings.${name}`, {
    ...{ ...sizesOf(c), positions: c.max_position_embeddings },
  });
  for (let i = 0; i < c.n_layers; i++) {
    const name = (part: string) => `distilbert.transformer.layer.${i}.${part}`;
    x = bertLayer(g, x, { ...sizesOf(c), names: NAMES, at: name, padding });
  }
  return x;
}

const modelOf = (c: Config): TextModel => ({
  ...sizesOf(c),
  states: (g) => statesOf(g, c),
  classify: (g, states) =>
    twoLayerClassifier(g, firstToken(g, states), {
      ...{ dense: 'pre_classifier', output: 'classifier', ...sizesOf(c), act: 'relu' },
    }),
  fill: (g, states) =>
    vocabularyScores(
      g,
      states,
      {
        ...{ dense: 'vocab_transform', norm: 'vocab_layer_norm', own: 'vocab_projector.weight' },
        ...{ tied: 'distilbert.embeddings.word_embeddings.weight', bias: ['vocab_projector.bias'] },
      },
      { ...sizesOf(c), embedded: c.dim },
    ),
});

/** BERT without token types and pooler. modeling_distilbert.py */
export const distilbert = defineFamily({
  modelTypes: ['distilbert'],
  inert: [
    {
      fields: named('sinusoidal_pos_embds'),
      reason: 'what the table of positions begins with; the checkpoint holds it',
    },
  ],
  config,
  prefixes: ['distilbert.'],
  heads: textHeads(modelOf),
});
