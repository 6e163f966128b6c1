import { z } from 'zod';
import { defineArchitecture } from '../../architecture.js';
import { headWidth } from '../../blocks/heads.js';
import { embedding } from '../../blocks/linear.js';
import { layerNorm, skipLayerNorm } from '../../blocks/norm.js';
import { distances, placesOf, textInputs } from '../../blocks/text-inputs.js';
import { firstToken, textHeads, type TextModel } from '../../blocks/text-heads.js';
import type { GraphWriter, Value } from '../../graph-writer.js';
import { BERT_NAMES, bertLayer, twoLayerClassifier, vocabularyScores } from './bert-like.js';
import { bertConfig, bertSizes } from './config.js';
import { relativeKeyBias } from './relative-key.js';

const config = z.object({
  ...bertConfig,
  position_embedding_type: z.enum(['absolute', 'relative_key', 'relative_key_query']).default('absolute'),
  is_decoder: z.literal(false).default(false),
});
type Config = z.output<typeof config>;

/** Former endings of the names of norms. */
const OLDER = { 'LayerNorm.weight': 'LayerNorm.gamma', 'LayerNorm.bias': 'LayerNorm.beta' };

function statesOf(g: GraphWriter, c: Config): Value {
  const { ids, types, padding } = textInputs(g, { types: true });
  const at = (name: string) => `bert.embeddings.${name}`;
  const { width, epsilon } = bertSizes(c);
  const tokens = embedding(g, ids, at('word_embeddings'), { rows: c.vocab_size, width });
  const kinds = embedding(g, types, at('token_type_embeddings'), { rows: c.type_vocab_size, width });
  const sum = g.node('Add', [tokens, kinds]);
  const norm = { width, epsilon };
  const isAbsolute = c.position_embedding_type === 'absolute';
  const places = g.node('Unsqueeze', [placesOf(g, ids), g.ints([0])]);
  const rows = c.max_position_embeddings;
  let x = isAbsolute
    ? skipLayerNorm(
        g,
        [sum, embedding(g, places, at('position_embeddings'), { rows, width })],
        at('LayerNorm'),
        norm,
      )
    : layerNorm(g, sum, at('LayerNorm'), norm);
  for (let i = 0; i < c.num_hidden_layers; i++) {
    const name = (part: string) => `bert.encoder.layer.${i}.${part}`;
    const bias = isAbsolute
      ? undefined
      : (query: Value, key: Value) =>
          relativeKeyBias(g, { query, key }, name('attention.self.distance_embedding.weight'), {
            ...{ heads: c.num_attention_heads, width: headWidth(width, c.num_attention_heads), rows },
            ...{ distance: distances(g, ids), withKey: c.position_embedding_type === 'relative_key_query' },
          });
    x = bertLayer(g, x, { ...bertSizes(c), names: BERT_NAMES, at: name, padding, bias });
  }
  return x;
}

const modelOf = (c: Config): TextModel => ({
  ...bertSizes(c),
  states: (g) => statesOf(g, c),
  classify: (g, states) =>
    twoLayerClassifier(g, firstToken(g, states), {
      ...{ dense: 'bert.pooler.dense', output: 'classifier', ...bertSizes(c), act: 'tanh' },
    }),
  fill: (g, states) =>
    vocabularyScores(
      g,
      states,
      {
        dense: 'cls.predictions.transform.dense',
        norm: 'cls.predictions.transform.LayerNorm',
        own: 'cls.predictions.decoder.weight',
        tied: 'bert.embeddings.word_embeddings.weight',
        bias: ['cls.predictions.bias', 'cls.predictions.decoder.bias'],
      },
      { ...bertSizes(c), embedded: c.hidden_size },
    ),
});

/** modeling_bert.py */
export const bert = defineArchitecture({
  modelTypes: ['bert'],
  config,
  prefixes: ['bert.'],
  older: OLDER,
  heads: textHeads(modelOf),
});
