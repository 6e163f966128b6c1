import * as z from 'zod';
import { defineFamily } from '../family.js';
import { linear } from '../layers/linear.js';
import { textInputs } from '../layers/text-inputs.js';
import { firstToken, textHeads, type TextModel } from '../bases/encoder/encoder-heads.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { size } from '../config-fields.js';
import { BERT_NAMES, bertLayer, twoLayerClassifier, vocabularyScores } from '../bases/encoder/bert-layer.js';
import { bertConfig, bertSizes } from '../bases/encoder/bert-config.js';
import { bertEmbeddings } from '../bases/encoder/bert-embeddings.js';

const config = z.object({
  ...bertConfig,
  embedding_size: size.default(128),
  position_embedding_type: z.literal('absolute').default('absolute'),
});
type Config = z.output<typeof config>;

function statesOf(g: GraphWriter, c: Config): Value {
  const { ids, types, padding } = textInputs(g, { types: true });
  const width = c.embedding_size;
  const embedded = bertEmbeddings(g, { ids, types }, (name) => `electra.embeddings.${name}`, {
    ...{ width, epsilon: c.layer_norm_eps, vocabulary: c.vocab_size },
    ...{ kinds: c.type_vocab_size, positions: c.max_position_embeddings },
  });
  const wide = { from: width, to: c.hidden_size };
  let x = width === c.hidden_size ? embedded : linear(g, embedded, 'electra.embeddings_project', wide);
  for (let i = 0; i < c.num_hidden_layers; i++) {
    const name = (part: string) => `electra.encoder.layer.${i}.${part}`;
    x = bertLayer(g, x, { ...bertSizes(c), names: BERT_NAMES, at: name, padding });
  }
  return x;
}

const modelOf = (c: Config): TextModel => ({
  ...bertSizes(c),
  states: (g) => statesOf(g, c),
  classify: (g, states) =>
    twoLayerClassifier(g, firstToken(g, states), {
      ...{ dense: 'classifier.dense', output: 'classifier.out_proj', ...bertSizes(c), act: 'gelu' },
    }),
  fill: (g, states) =>
    vocabularyScores(
      g,
      states,
      {
        ...{ dense: 'generator_predictions.dense', norm: 'generator_predictions.LayerNorm' },
        ...{ own: 'generator_lm_head.weight', tied: 'electra.embeddings.word_embeddings.weight' },
        bias: ['generator_lm_head.bias'],
      },
      { ...bertSizes(c), embedded: c.embedding_size, act: 'gelu' },
    ),
});

/** Vectors of tokens may be narrower than states. modeling_electra.py */
export const electra = defineFamily({
  modelTypes: ['electra'],
  config,
  prefixes: ['electra.'],
  heads: textHeads(modelOf),
});
