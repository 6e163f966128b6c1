import { z } from 'zod';
import { defineArchitecture } from '../architecture.js';
import { activation } from '../blocks/activation.js';
import { attention } from '../blocks/attention.js';
import { embedding, linear, matMulTransposed } from '../blocks/linear.js';
import { layerNorm, skipLayerNorm } from '../blocks/norm.js';
import { classifierOutput, spanOutputs, textInputs, type TextInputs } from '../blocks/text.js';
import type { GraphWriter, Value } from '../graph-writer.js';
import { epsilon, labelCount, labels, layers, size } from './config.js';

const config = z.object({
  ...labels,
  vocab_size: size,
  hidden_size: size,
  num_hidden_layers: layers,
  num_attention_heads: size,
  intermediate_size: size,
  hidden_act: z.string().default('gelu'),
  max_position_embeddings: size.default(512),
  type_vocab_size: size.default(2),
  layer_norm_eps: epsilon.default(1e-12),
});
type Config = z.output<typeof config>;

/** Vectors of tokens, their types and their places: float32 [rows, tokens, hidden]. */
function embed(g: GraphWriter, { ids, types, positions }: TextInputs, c: Config): Value {
  const at = (name: string) => `bert.embeddings.${name}`;
  const width = c.hidden_size;
  const tokens = embedding(g, ids, at('word_embeddings'), { rows: c.vocab_size, width });
  const kinds = embedding(g, types, at('token_type_embeddings'), { rows: c.type_vocab_size, width });
  const places = embedding(g, positions, at('position_embeddings'), {
    rows: c.max_position_embeddings,
    width,
  });
  const sum = g.node('Add', [tokens, kinds]);
  return skipLayerNorm(g, [sum, places], at('LayerNorm'), { width, epsilon: c.layer_norm_eps });
}

interface Layer {
  index: number;
  padding: Value;
}

function layer(g: GraphWriter, x: Value, { index, padding }: Layer, c: Config): Value {
  const at = (name: string) => `bert.encoder.layer.${index}.${name}`;
  const [width, inner] = [c.hidden_size, c.intermediate_size];
  const norm = { width, epsilon: c.layer_norm_eps };
  const square = { from: width, to: width };
  const attended = attention(
    g,
    {
      query: linear(g, x, at('attention.self.query'), square),
      key: linear(g, x, at('attention.self.key'), square),
      value: linear(g, x, at('attention.self.value'), square),
    },
    { heads: c.num_attention_heads, padding },
  );
  const projected = linear(g, attended, at('attention.output.dense'), square);
  const middle = skipLayerNorm(g, [projected, x], at('attention.output.LayerNorm'), norm);
  const wide = linear(g, middle, at('intermediate.dense'), { from: width, to: inner });
  const narrow = linear(g, activation(g, wide, c.hidden_act), at('output.dense'), { from: inner, to: width });
  return skipLayerNorm(g, [narrow, middle], at('output.LayerNorm'), norm);
}

/** The states of the last layer: float32 [rows, tokens, hidden]. */
function states(g: GraphWriter, c: Config): Value {
  const inputs = textInputs(g, { types: true });
  let x = embed(g, inputs, c);
  for (let i = 0; i < c.num_hidden_layers; i++) x = layer(g, x, { index: i, padding: inputs.padding }, c);
  return x;
}

function pooled(g: GraphWriter, hidden: Value, c: Config): Value {
  const first = g.node('Gather', [hidden, g.ints([0], [])], { axis: 1 });
  const dense = linear(g, first, 'bert.pooler.dense', { from: c.hidden_size, to: c.hidden_size });
  return g.node('Tanh', [dense]);
}

function vocabularyScores(g: GraphWriter, hidden: Value, c: Config): Value {
  const at = (name: string) => `cls.predictions.${name}`;
  const width = c.hidden_size;
  const dense = linear(g, hidden, at('transform.dense'), { from: width, to: width });
  const norm = layerNorm(g, activation(g, dense, c.hidden_act), at('transform.LayerNorm'), {
    ...{ width, epsilon: c.layer_norm_eps },
  });
  const own = g.weights.has(at('decoder.weight'));
  const table = g.weight(own ? at('decoder.weight') : 'bert.embeddings.word_embeddings.weight', [
    ...[c.vocab_size, width],
  ]);
  const bias = g.weights.has(at('bias')) ? at('bias') : at('decoder.bias');
  return g.node('Add', [matMulTransposed(g, norm, table), g.weight(bias, [c.vocab_size])]);
}

/** BERT: post-norm encoder with learned positions. modeling_bert.py */
export const bert = defineArchitecture({
  modelTypes: ['bert'],
  config,
  prefixes: ['bert.'],
  older: { 'LayerNorm.weight': 'LayerNorm.gamma', 'LayerNorm.bias': 'LayerNorm.beta' },
  heads: {
    embedding: {
      model: (g, c) =>
        g.output('last_hidden_state', states(g, c), 'float32', ['rows', 'tokens', c.hidden_size]),
    },
    'masked-lm': {
      model: (g, c) =>
        g.output('logits', vocabularyScores(g, states(g, c), c), 'float32', ['rows', 'tokens', c.vocab_size]),
    },
    'sequence-classification': {
      model: (g, c) => classifierOutput(g, pooled(g, states(g, c), c), 'classifier', sizes(c)),
    },
    'token-classification': {
      model: (g, c) => classifierOutput(g, states(g, c), 'classifier', { ...sizes(c), tokens: true }),
    },
    'question-answering': { model: (g, c) => spanOutputs(g, states(g, c), 'qa_outputs', c.hidden_size) },
  },
});

const sizes = (c: Config) => ({ width: c.hidden_size, labels: labelCount(c) });
