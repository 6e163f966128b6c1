import * as z from 'zod';
import { defineFamily } from '../family.js';
import { activation } from '../layers/activation.js';
import { attention } from '../layers/attention.js';
import { convolution } from '../layers/convolution.js';
import { skipLayerNorm } from '../layers/norm.js';
import { textInputs } from '../layers/text-inputs.js';
import { firstToken, textHeads, type TextModel } from '../bases/encoder/encoder-heads.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { layers, size } from '../config-fields.js';
import { BERT_SCORES, twoLayerClassifier, vocabularyScores } from '../bases/encoder/bert-layer.js';
import { bertConfig, bertSizes } from '../bases/encoder/bert-config.js';
import { bertEmbeddings } from '../bases/encoder/bert-embeddings.js';

const groups = z.int().min(1).max(4096);

const config = z
  .object({
    ...bertConfig,
    ...{
      vocab_size: size.default(30_522),
      hidden_size: size.default(768),
      intermediate_size: size.default(3072),
    },
    ...{ num_hidden_layers: layers.default(12), num_attention_heads: size.default(12) },
    embedding_size: size.default(768),
    ...{ q_groups: groups.default(4), k_groups: groups.default(4), v_groups: groups.default(4) },
    ...{ post_attention_groups: groups.default(1), intermediate_groups: groups.default(4) },
    output_groups: groups.default(4),
  })
  .refine((c) => c.embedding_size === c.hidden_size, {
    ...{ message: 'must be hidden_size', path: ['embedding_size'] },
  });
type Config = z.output<typeof config>;

const base = 'transformer.';
/** Of norms in layers, whatever a configuration says. */
const EPSILON = 1e-12;

/** A layer over groups of channels: float32 [rows, tokens, from] -> [rows, tokens, to]. */
function grouped(
  g: GraphWriter,
  x: Value,
  name: string,
  size: { from: number; to: number; groups: number },
): Value {
  const turned = (value: Value) => g.node('Transpose', [value], { perm: [0, 2, 1] });
  return turned(convolution(g, turned(x), name, { ...size, kernel: [1] }));
}

function writeLayer(g: GraphWriter, x: Value, padding: Value, { at, c }: { at: string; c: Config }): Value {
  const { width, inner, heads, act } = bertSizes(c);
  const square = (of: Value, name: string, groups: number) =>
    grouped(g, of, `${at}.${name}`, { from: width, to: width, groups });
  const attended = attention(
    g,
    {
      query: square(x, 'attention.query', c.q_groups),
      key: square(x, 'attention.key', c.k_groups),
      value: square(x, 'attention.value', c.v_groups),
    },
    { heads, width, padding },
  );
  const norm = { width, epsilon: EPSILON };
  const output = square(attended, 'post_attention.conv1d', c.post_attention_groups);
  const middle = skipLayerNorm(g, [output, x], `${at}.post_attention.layernorm`, norm);
  const up = { from: width, to: inner, groups: c.intermediate_groups };
  const wide = activation(g, grouped(g, middle, `${at}.intermediate.conv1d`, up), act);
  const down = { from: inner, to: width, groups: c.output_groups };
  const narrow = grouped(g, wide, `${at}.output.conv1d`, down);
  return skipLayerNorm(g, [narrow, middle], `${at}.output.layernorm`, norm);
}

function statesOf(g: GraphWriter, c: Config): Value {
  const { ids, types, padding } = textInputs(g, { types: true });
  let x = bertEmbeddings(g, { ids, types }, (name) => `${base}embeddings.${name}`, {
    ...{ ...bertSizes(c), kinds: c.type_vocab_size, positions: c.max_position_embeddings },
  });
  for (let i = 0; i < c.num_hidden_layers; i++)
    x = writeLayer(g, x, padding, { at: `${base}encoder.layers.${i}`, c });
  return x;
}

const modelOf = (c: Config): TextModel => ({
  ...bertSizes(c),
  states: (g) => statesOf(g, c),
  classify: (g, states) =>
    twoLayerClassifier(g, firstToken(g, states), {
      ...{ dense: `${base}pooler.dense`, output: 'classifier', ...bertSizes(c), act: 'tanh' },
    }),
  fill: (g, states) =>
    vocabularyScores(
      g,
      states,
      { ...BERT_SCORES, tied: `${base}embeddings.word_embeddings.weight` },
      { ...bertSizes(c), embedded: c.hidden_size },
    ),
});

/** BERT whose layers are parted into groups of channels. modeling_squeezebert.py */
export const squeezebert = defineFamily({
  modelTypes: ['squeezebert'],
  config,
  prefixes: [base],
  heads: textHeads(modelOf),
});
