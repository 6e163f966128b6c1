import * as z from 'zod';
import { defineFamily } from '../family.js';
import { headWidth } from '../layers/head-sizes.js';
import { distances, textInputs } from '../layers/text-inputs.js';
import { firstToken, textHeads, type TextModel } from '../bases/encoder/encoder-heads.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import {
  BERT_NAMES,
  BERT_SCORES,
  bertLayer,
  OLDER_NORMS,
  twoLayerClassifier,
  vocabularyScores,
} from '../bases/encoder/bert-layer.js';
import { bertConfig, bertSizes } from '../bases/encoder/bert-config.js';
import { bertEmbeddings } from '../bases/encoder/bert-embeddings.js';
import { relativeKeyBias } from '../bases/encoder/relative-key.js';

const config = z.object({
  ...bertConfig,
  position_embedding_type: z.enum(['absolute', 'relative_key', 'relative_key_query']).default('absolute'),
  is_decoder: z.literal(false).default(false),
});
type Config = z.output<typeof config>;

function statesOf(g: GraphWriter, c: Config): Value {
  const { ids, types, padding } = textInputs(g, { types: true });
  const { width } = bertSizes(c);
  const rows = c.max_position_embeddings;
  const isAbsolute = c.position_embedding_type === 'absolute';
  let x = bertEmbeddings(g, { ids, types }, (name) => `bert.embeddings.${name}`, {
    ...{ ...bertSizes(c), kinds: c.type_vocab_size, positions: isAbsolute ? rows : undefined },
  });
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
  fill: (g, states) => vocabularyScores(g, states, BERT_SCORES, { ...bertSizes(c), embedded: c.hidden_size }),
});

/** modeling_bert.py */
export const bert = defineFamily({
  modelTypes: ['bert'],
  config,
  prefixes: ['bert.'],
  older: OLDER_NORMS,
  heads: textHeads(modelOf),
});
