import * as z from 'zod';
import { defineFamily } from '../family.js';
import { embedding } from '../layers/linear.js';
import { skipLayerNorm } from '../layers/norm.js';
import { positionsBehindPadding, textInputs } from '../layers/text-inputs.js';
import { firstToken, textHeads, type TextModel } from '../bases/encoder/encoder-heads.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import {
  BERT_NAMES,
  bertLayer,
  robertaScores,
  twoLayerClassifier,
  vocabularyScores,
} from '../bases/encoder/bert-layer.js';
import { bertConfig, bertSizes } from '../bases/encoder/bert-config.js';

const config = z.object({
  ...bertConfig,
  pad_token_id: z.int().min(0).default(1),
  position_embedding_type: z.literal('absolute').default('absolute'),
  is_decoder: z.literal(false).default(false),
});
type Config = z.output<typeof config>;

/** Positions count from the padding's id on; token types are one row, which is added to all. */
export function robertaEmbeddings(
  g: GraphWriter,
  ids: Value,
  base: string,
  c: z.output<z.ZodObject<typeof bertConfig>> & { pad_token_id: number },
): Value {
  const at = (name: string) => `${base}.${name}`;
  const { width, epsilon } = bertSizes(c);
  const tokens = embedding(g, ids, at('word_embeddings'), { rows: c.vocab_size, width });
  const kinds = g.weight(at('token_type_embeddings.weight'), [c.type_vocab_size, width]);
  const kind = g.node('Gather', [kinds, g.ints([0], [])]);
  const positions = embedding(g, positionsBehindPadding(g, ids, c.pad_token_id), at('position_embeddings'), {
    ...{ rows: c.max_position_embeddings, width },
  });
  return skipLayerNorm(g, [g.node('Add', [tokens, kind]), positions], at('LayerNorm'), { width, epsilon });
}

function statesOf(g: GraphWriter, c: Config): Value {
  const { ids, padding } = textInputs(g);
  let x = robertaEmbeddings(g, ids, 'roberta.embeddings', c);
  for (let i = 0; i < c.num_hidden_layers; i++) {
    const name = (part: string) => `roberta.encoder.layer.${i}.${part}`;
    x = bertLayer(g, x, { ...bertSizes(c), names: BERT_NAMES, at: name, padding });
  }
  return x;
}

/** Heads of RoBERTa and MPNet: `prefix` is that of the model without its head. */
export function robertaHeads(c: z.output<z.ZodObject<typeof bertConfig>>, prefix: string) {
  const sizes = bertSizes(c);
  return {
    classify: (g: GraphWriter, states: Value) =>
      twoLayerClassifier(g, firstToken(g, states), {
        ...{ dense: 'classifier.dense', output: 'classifier.out_proj', ...sizes, act: 'tanh' },
      }),
    fill: (g: GraphWriter, states: Value) =>
      vocabularyScores(g, states, robertaScores(prefix), { ...sizes, embedded: sizes.width, act: 'gelu' }),
  };
}

const modelOf = (c: Config): TextModel => ({
  ...bertSizes(c),
  states: (g) => statesOf(g, c),
  ...robertaHeads(c, 'roberta.'),
});

/** modeling_roberta.py; XLM-RoBERTa and CamemBERT are the same network. */
export const roberta = defineFamily({
  modelTypes: ['roberta', 'xlm-roberta', 'camembert'],
  readers: { positions: 'after-padding' },
  config,
  prefixes: ['roberta.'],
  heads: textHeads(modelOf),
});
