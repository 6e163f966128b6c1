import * as z from 'zod';
import { defineFamily } from '../family.js';
import { headWidth } from '../layers/head-sizes.js';
import { linear } from '../layers/linear.js';
import { type Rotary, rotary, rotate } from '../layers/rope.js';
import { positionsOf, textInputs } from '../layers/text-inputs.js';
import { firstToken, textHeads, type TextModel } from '../bases/encoder/encoder-heads.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { size } from '../config-fields.js';
import {
  BERT_NAMES,
  BERT_SCORES,
  bertLayer,
  twoLayerClassifier,
  vocabularyScores,
} from '../bases/encoder/bert-layer.js';
import { bertConfig, bertSizes } from '../bases/encoder/bert-config.js';
import { bertEmbeddings } from '../bases/encoder/bert-embeddings.js';

const config = z.object({
  ...bertConfig,
  embedding_size: size.nullish(),
  max_position_embeddings: size.default(1536),
  rotary_value: z.boolean().default(false),
  is_decoder: z.literal(false, 'decoders are not known').default(false),
});
type Config = z.output<typeof config>;

const base = 'roformer.';
const embedded = (c: Config): number => c.embedding_size ?? c.hidden_size;

/** The angles of all tokens: from the table of the checkpoint, sines before cosines, where it holds one. */
function anglesOf(g: GraphWriter, ids: Value, c: Config): Rotary {
  const width = headWidth(c.hidden_size, c.num_attention_heads);
  const positions = g.node('Unsqueeze', [positionsOf(g, ids), g.ints([0])]);
  const lines = g.node('Expand', [positions, g.node('Shape', [ids])]);
  const table = `${base}encoder.embed_positions.weight`;
  const usual = { rope_theta: 10_000, max_position_embeddings: c.max_position_embeddings };
  if (!g.weights.has(table)) return rotary(g, lines, usual, width);
  const half = width / 2;
  const [sine, cosine] = g.nodes(
    'Split',
    [g.weight(table, [c.max_position_embeddings, width]), g.ints([half, half])],
    { outputs: 2, attributes: { axis: 1 } },
  ) as [Value, Value];
  return { sine, cosine, lines, width };
}

function statesOf(g: GraphWriter, c: Config): Value {
  const { ids, types, padding } = textInputs(g, { types: true });
  const [narrow, width] = [embedded(c), c.hidden_size];
  const tokens = bertEmbeddings(g, { ids, types }, (name) => `${base}embeddings.${name}`, {
    ...{ width: narrow, epsilon: c.layer_norm_eps, vocabulary: c.vocab_size, kinds: c.type_vocab_size },
  });
  const angles = anglesOf(g, ids, c);
  const heads = c.num_attention_heads;
  const turn = (x: Value, of: 'query' | 'key' | 'value') =>
    of === 'value' && !c.rotary_value
      ? x
      : rotate(g, x, angles, { heads, width: headWidth(width, heads), interleaved: true });
  let x =
    narrow === width ? tokens : linear(g, tokens, `${base}embeddings_project`, { from: narrow, to: width });
  for (let i = 0; i < c.num_hidden_layers; i++) {
    const at = (part: string) => `${base}encoder.layer.${i}.${part}`;
    x = bertLayer(g, x, { ...bertSizes(c), names: BERT_NAMES, at, padding, turn });
  }
  return x;
}

const modelOf = (c: Config): TextModel => ({
  ...bertSizes(c),
  states: (g) => statesOf(g, c),
  classify: (g, states) =>
    twoLayerClassifier(g, firstToken(g, states), {
      ...{ dense: 'classifier.dense', output: 'classifier.out_proj', ...bertSizes(c) },
    }),
  fill: (g, states) =>
    vocabularyScores(
      g,
      states,
      { ...BERT_SCORES, tied: `${base}embeddings.word_embeddings.weight` },
      { ...bertSizes(c), embedded: embedded(c) },
    ),
});

/** BERT whose heads are rotated by their positions. modeling_roformer.py */
export const roformer = defineFamily({
  modelTypes: ['roformer'],
  config,
  prefixes: [base],
  heads: textHeads(modelOf),
});
