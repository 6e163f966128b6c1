import * as z from 'zod';
import { defineFamily } from '../family.js';
import { activation } from '../layers/activation.js';
import { attention } from '../layers/attention.js';
import { embedding, linear, multiplied } from '../layers/linear.js';
import { layerNorm } from '../layers/norm.js';
import { positionsOf, textInputs } from '../layers/text-inputs.js';
import { firstToken, textHeads, type TextModel } from '../bases/encoder/encoder-heads.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { ELEMENTS } from '../writer/tensors.js';
import { layers, size } from '../config-fields.js';
import { bertConfig, bertSizes } from '../bases/encoder/bert-config.js';
import { BERT_SCORES, withScoresBias } from '../bases/encoder/bert-layer.js';

const config = z
  .object({
    ...bertConfig,
    ...{
      vocab_size: size.default(30_522),
      hidden_size: size.default(512),
      intermediate_size: size.default(512),
    },
    ...{ num_hidden_layers: layers.default(24), num_attention_heads: size.default(4) },
    hidden_act: z.string().default('relu'),
    ...{ embedding_size: size.default(128), trigram_input: z.boolean().default(true) },
    ...{ use_bottleneck: z.boolean().default(true), intra_bottleneck_size: size.default(128) },
    use_bottleneck_attention: z.boolean().default(false),
    key_query_shared_bottleneck: z.boolean().default(true),
    num_feedforward_networks: z.int().min(1).max(64).default(4),
    normalization_type: z.enum(['no_norm', 'layer_norm']).default('no_norm'),
    classifier_activation: z.boolean().default(true),
  })
  .refine((c) => !c.use_bottleneck || c.use_bottleneck_attention || c.key_query_shared_bottleneck, {
    ...{ message: 'attention over wide states is not known', path: ['key_query_shared_bottleneck'] },
  })
  .refine((c) => c.embedding_size <= c.hidden_size, {
    ...{ message: 'is larger than hidden_size', path: ['embedding_size'] },
  });
type Config = z.output<typeof config>;

const base = 'mobilebert.';
/** torch's default for norms, which some of these have whatever a configuration says. */
const EPSILON = 1e-5;

/** A LayerNorm, or a scale and a shift in its place. */
function norm(
  g: GraphWriter,
  x: Value,
  name: string,
  of: { c: Config; width: number; epsilon?: number },
): Value {
  const { c, width, epsilon = c.layer_norm_eps } = of;
  if (c.normalization_type === 'layer_norm') return layerNorm(g, x, name, { width, epsilon });
  const scaled = g.node('Mul', [x, g.weight(`${name}.weight`, [width])]);
  return g.node('Add', [scaled, g.weight(`${name}.bias`, [width])]);
}

/** Vectors of the next token, of its own and of the one before, side by side; zeros stand beyond the text. */
function trigrams(g: GraphWriter, tokens: Value, mask: Value): Value {
  const seen = g.node('Unsqueeze', [g.node('Cast', [mask], { to: ELEMENTS.float32 }), g.ints([2])]);
  const text = g.node('Mul', [tokens, seen]);
  const moved = (from: number, to: number, pads: readonly number[]) =>
    g.node('Pad', [g.node('Slice', [text, g.ints([from]), g.ints([to]), g.ints([1])]), g.ints(pads)]);
  const next = moved(1, 2 ** 53, [0, 0, 0, 0, 1, 0]);
  return g.node('Concat', [next, tokens, moved(0, -1, [0, 1, 0, 0, 0, 0])], { axis: 2 });
}

function embed(g: GraphWriter, { ids, mask, types }: ReturnType<typeof textInputs>, c: Config): Value {
  const at = (name: string) => `${base}embeddings.${name}`;
  const [width, narrow] = [c.hidden_size, c.embedding_size];
  const tokens = embedding(g, ids, at('word_embeddings'), { rows: c.vocab_size, width: narrow });
  const read = c.trigram_input ? trigrams(g, tokens, mask) : tokens;
  const from = c.trigram_input ? 3 * narrow : narrow;
  const isWide = !c.trigram_input && narrow === width;
  const wide = isWide ? read : linear(g, read, at('embedding_transformation'), { from, to: width });
  const row = g.node('Unsqueeze', [positionsOf(g, ids), g.ints([0])]);
  const positions = embedding(g, row, at('position_embeddings'), { rows: c.max_position_embeddings, width });
  const kinds = embedding(g, types, at('token_type_embeddings'), { rows: c.type_vocab_size, width });
  const sum = g.node('Add', [g.node('Add', [wide, positions]), kinds]);
  return norm(g, sum, at('LayerNorm'), { c, width, epsilon: EPSILON });
}

/** A layer within a bottleneck, with several feed-forward networks one after the other. */
function writeLayer(g: GraphWriter, x: Value, padding: Value, { at, c }: { at: string; c: Config }): Value {
  const wide = c.hidden_size;
  const width = c.use_bottleneck ? c.intra_bottleneck_size : wide;
  const narrowed = (name: string) =>
    norm(
      g,
      linear(g, x, `${at}.bottleneck.${name}.dense`, { from: wide, to: width }),
      `${at}.bottleneck.${name}.LayerNorm`,
      {
        ...{ c, width },
      },
    );
  const input = c.use_bottleneck ? narrowed('input') : x;
  const isShared = c.use_bottleneck && !c.use_bottleneck_attention;
  const read = isShared ? narrowed('attention') : input;
  const [valued, valueWidth] = isShared ? [x, wide] : [input, width];
  const project = (of: Value, name: string, from: number) =>
    linear(g, of, `${at}.attention.self.${name}`, { from, to: width });
  const attended = attention(
    g,
    {
      query: project(read, 'query', width),
      key: project(read, 'key', width),
      value: project(valued, 'value', valueWidth),
    },
    { heads: c.num_attention_heads, width, padding },
  );
  const added = (sum: readonly [Value, Value], name: string, of: { width: number; epsilon?: number }) =>
    norm(g, g.node('Add', sum), `${name}.LayerNorm`, { c, ...of });
  const output = linear(g, attended, `${at}.attention.output.dense`, { from: width, to: width });
  let state = added([output, input], `${at}.attention.output`, { width });
  const inner = c.intermediate_size;
  const feed = (name: string, of: Value) => {
    const found = linear(g, of, `${at}.${name}intermediate.dense`, { from: width, to: inner });
    const to = { from: inner, to: width };
    return linear(g, activation(g, found, c.hidden_act), `${at}.${name}output.dense`, to);
  };
  for (let i = 0; i < c.num_feedforward_networks - 1; i++)
    state = added([feed(`ffn.${i}.`, state), state], `${at}.ffn.${i}.output`, { width });
  const last = added([feed('', state), state], `${at}.output`, { width, epsilon: EPSILON });
  if (!c.use_bottleneck) return last;
  const back = linear(g, last, `${at}.output.bottleneck.dense`, { from: width, to: wide });
  return added([back, x], `${at}.output.bottleneck`, { width: wide });
}

function statesOf(g: GraphWriter, c: Config): Value {
  const inputs = textInputs(g, { types: true });
  let x = embed(g, inputs, c);
  for (let i = 0; i < c.num_hidden_layers; i++)
    x = writeLayer(g, x, inputs.padding, { at: `${base}encoder.layer.${i}`, c });
  return x;
}

/** The table of tokens is as wide as their vectors; what is left of a state has a matrix of its own. */
function vocabularyScores(g: GraphWriter, states: Value, c: Config): Value {
  const [width, narrow, rows] = [c.hidden_size, c.embedding_size, c.vocab_size];
  const at = (name: string) => `cls.predictions.${name}`;
  const dense = linear(g, states, at('transform.dense'), { from: width, to: width });
  const normed = layerNorm(g, activation(g, dense, c.hidden_act), at('transform.LayerNorm'), {
    ...{ width, epsilon: c.layer_norm_eps },
  });
  const own = at('decoder.weight');
  const table = g.weights.has(own) ? own : `${base}embeddings.word_embeddings.weight`;
  const left = width - narrow;
  const [first, rest] =
    left === 0
      ? [normed]
      : g.nodes('Split', [normed, g.ints([narrow, left])], { outputs: 2, attributes: { axis: -1 } });
  const tied = multiplied(g, first!, table, { rows, columns: narrow, isTable: true });
  const scores = rest
    ? g.node('Add', [
        tied,
        multiplied(g, rest, at('dense.weight'), { rows, columns: left, transposed: true }),
      ])
    : tied;
  return withScoresBias(g, scores, BERT_SCORES.bias, rows);
}

const modelOf = (c: Config): TextModel => ({
  ...bertSizes(c),
  states: (g) => statesOf(g, c),
  classify(g, states) {
    const { width, labels } = bertSizes(c);
    const first = firstToken(g, states);
    const pooled = () => linear(g, first, `${base}pooler.dense`, { from: width, to: width });
    const read = c.classifier_activation ? g.node('Tanh', [pooled()]) : first;
    return linear(g, read, 'classifier', { from: width, to: labels });
  },
  fill: (g, states) => vocabularyScores(g, states, c),
});

/** modeling_mobilebert.py */
export const mobilebert = defineFamily({
  modelTypes: ['mobilebert'],
  config,
  prefixes: [base],
  heads: textHeads(modelOf),
});
