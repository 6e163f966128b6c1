import * as z from 'zod';
import { defineFamily } from '../family.js';
import { linear } from '../layers/linear.js';
import { textInputs } from '../layers/text-inputs.js';
import { firstToken, textHeads, type TextModel } from '../bases/encoder/encoder-heads.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { size } from '../config-fields.js';
import {
  bertLayer,
  type LayerNames,
  twoLayerClassifier,
  vocabularyScores,
} from '../bases/encoder/bert-layer.js';
import { bertConfig, bertSizes } from '../bases/encoder/bert-config.js';
import { bertEmbeddings } from '../bases/encoder/bert-embeddings.js';

const config = z.object({
  ...bertConfig,
  hidden_act: z.string().default('gelu_new'),
  embedding_size: size.default(128),
  num_hidden_groups: z.int().min(1).max(1024).default(1),
  inner_group_num: z.int().min(1).max(1024).default(1),
  position_embedding_type: z.literal('absolute').default('absolute'),
});
type Config = z.output<typeof config>;

const NAMES: LayerNames = {
  query: 'attention.query',
  key: 'attention.key',
  value: 'attention.value',
  output: 'attention.dense',
  attentionNorm: 'attention.LayerNorm',
  wide: 'ffn',
  narrow: 'ffn_output',
  norm: 'full_layer_layer_norm',
};

/** The layers of a group are used again and again. */
function statesOf(g: GraphWriter, c: Config): Value {
  const { ids, types, padding } = textInputs(g, { types: true });
  const embedded = bertEmbeddings(g, { ids, types }, (name) => `albert.embeddings.${name}`, {
    ...{ width: c.embedding_size, epsilon: c.layer_norm_eps, vocabulary: c.vocab_size },
    ...{ kinds: c.type_vocab_size, positions: c.max_position_embeddings },
  });
  let x = linear(g, embedded, 'albert.encoder.embedding_hidden_mapping_in', {
    from: c.embedding_size,
    to: c.hidden_size,
  });
  for (let i = 0; i < c.num_hidden_layers; i++) {
    const group = Math.floor(i / (c.num_hidden_layers / c.num_hidden_groups));
    for (let inner = 0; inner < c.inner_group_num; inner++) {
      const name = (part: string) =>
        `albert.encoder.albert_layer_groups.${group}.albert_layers.${inner}.${part}`;
      x = bertLayer(g, x, { ...bertSizes(c), names: NAMES, at: name, padding });
    }
  }
  return x;
}

const modelOf = (c: Config): TextModel => ({
  ...bertSizes(c),
  states: (g) => statesOf(g, c),
  classify: (g, states) =>
    twoLayerClassifier(g, firstToken(g, states), {
      ...{ dense: 'albert.pooler', output: 'classifier', ...bertSizes(c), act: 'tanh' },
    }),
  fill: (g, states) =>
    vocabularyScores(
      g,
      states,
      {
        ...{ dense: 'predictions.dense', norm: 'predictions.LayerNorm', own: 'predictions.decoder.weight' },
        tied: 'albert.embeddings.word_embeddings.weight',
        bias: ['predictions.decoder.bias', 'predictions.bias'],
      },
      { ...bertSizes(c), embedded: c.embedding_size },
    ),
});

/** modeling_albert.py */
export const albert = defineFamily({
  modelTypes: ['albert'],
  config,
  prefixes: ['albert.'],
  heads: textHeads(modelOf),
});
