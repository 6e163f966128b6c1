import { activation } from '../../layers/activation.js';
import { attention } from '../../layers/attention.js';
import { linear, multiplied } from '../../layers/linear.js';
import { layerNorm, skipLayerNorm } from '../../layers/norm.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';

/** Encoders with BERT's layers: attention, feed-forward, and a LayerNorm behind each. */

export type Name = (name: string) => string;

/** Names of a layer's parts. */
export interface LayerNames {
  query: string;
  key: string;
  value: string;
  output: string;
  attentionNorm: string;
  wide: string;
  narrow: string;
  norm: string;
}

export const BERT_NAMES: LayerNames = {
  query: 'attention.self.query',
  key: 'attention.self.key',
  value: 'attention.self.value',
  output: 'attention.output.dense',
  attentionNorm: 'attention.output.LayerNorm',
  wide: 'intermediate.dense',
  narrow: 'output.dense',
  norm: 'output.LayerNorm',
};

export interface LayerSize {
  width: number;
  inner: number;
  heads: number;
  epsilon: number;
  act: string;
}

export interface LayerInputs {
  /** int32 [rows, tokens], 0 for padding. */
  padding?: Value | undefined;
  /** Added to scores: float32 [1 or rows, heads, tokens, tokens]. Heads and their width are known to the layer only. */
  bias?: Value | ((query: Value, key: Value) => Value | undefined) | undefined;
  /** What scores are multiplied with before that; 1 / sqrt(width of a head) if absent. */
  scale?: number;
  /** In place of attention among the tokens of `x`: float32 [rows, tokens, width] of as much each. */
  attend?: (projected: { query: Value; key: Value; value: Value }) => Value;
  /** Turns heads by their positions. */
  turn?: (x: Value, of: 'query' | 'key' | 'value') => Value;
}

/** One layer over float32 [rows, tokens, width]. */
export function bertLayer(
  g: GraphWriter,
  x: Value,
  {
    names,
    at,
    padding,
    bias,
    scale,
    turn,
    attend,
    ...size
  }: LayerSize & LayerInputs & { names: LayerNames; at: Name },
): Value {
  const { width, inner, heads, epsilon, act } = size;
  const square = { from: width, to: width };
  const project = (of: 'query' | 'key' | 'value') => {
    const projected = linear(g, x, at(names[of]), square);
    return turn ? turn(projected, of) : projected;
  };
  const [query, key, value] = [project('query'), project('key'), project('value')];
  const added = typeof bias === 'function' ? bias(query, key) : bias;
  const options = { heads, width, padding, bias: added, ...(scale !== undefined && { scale }) };
  const attended = attend ? attend({ query, key, value }) : attention(g, { query, key, value }, options);
  const projected = linear(g, attended, at(names.output), square);
  const middle = skipLayerNorm(g, [projected, x], at(names.attentionNorm), { width, epsilon });
  const wide = activation(g, linear(g, middle, at(names.wide), { from: width, to: inner }), act);
  const narrow = linear(g, wide, at(names.narrow), { from: inner, to: width });
  return skipLayerNorm(g, [narrow, middle], at(names.norm), { width, epsilon });
}

export interface FillNames {
  dense: string;
  norm: string;
  /** The table of the answer's scores, where it is not that of the tokens. */
  own: string;
  tied: string;
  /** The scores' bias under its names: the first one that a file has. They differ only where the table is no one else's. */
  bias: readonly string[];
}

/** Where BERT keeps what scores the vocabulary. */
export const BERT_SCORES: FillNames = {
  dense: 'cls.predictions.transform.dense',
  norm: 'cls.predictions.transform.LayerNorm',
  own: 'cls.predictions.decoder.weight',
  tied: 'bert.embeddings.word_embeddings.weight',
  bias: ['cls.predictions.decoder.bias', 'cls.predictions.bias'],
};

/** Where RoBERTa does; `prefix` is that of the model without its head. */
export const robertaScores = (prefix: string): FillNames => ({
  dense: 'lm_head.dense',
  norm: 'lm_head.layer_norm',
  own: 'lm_head.decoder.weight',
  tied: `${prefix}embeddings.word_embeddings.weight`,
  bias: ['lm_head.decoder.bias', 'lm_head.bias'],
});

/** Former endings of the names of norms. */
export const OLDER_NORMS = { 'LayerNorm.weight': 'LayerNorm.gamma', 'LayerNorm.bias': 'LayerNorm.beta' };

export interface FillSize {
  width: number;
  /** Of the table of tokens. */
  embedded: number;
  vocabulary: number;
  epsilon: number;
  act: string;
}

/** Scores of the vocabulary: a layer, an activation, a norm, and the table of the tokens. */
export function vocabularyScores(
  g: GraphWriter,
  states: Value,
  { dense, norm, own, tied, bias }: FillNames,
  { width, embedded, vocabulary, epsilon, act }: FillSize,
): Value {
  const changed = activation(g, linear(g, states, dense, { from: width, to: embedded }), act);
  const normed = layerNorm(g, changed, norm, { width: embedded, epsilon });
  const table = g.weights.has(own) ? own : tied;
  const scores = multiplied(g, normed, table, { rows: vocabulary, columns: embedded, isTable: true });
  return withScoresBias(g, scores, bias, vocabulary);
}

/** Scores and their bias, of these names the first one that the file has. */
export function withScoresBias(
  g: GraphWriter,
  scores: Value,
  names: readonly string[],
  vocabulary: number,
): Value {
  const found = names.find((name) => g.weights.has(name)) ?? names.at(-1)!;
  return g.node('Add', [scores, g.weight(found, [vocabulary])]);
}

/** A layer, an activation and the layer of labels over vectors [rows, width]. */
export function twoLayerClassifier(
  g: GraphWriter,
  x: Value,
  { dense, output, act, width, labels }: TwoLayers,
): Value {
  const hidden = activation(g, linear(g, x, dense, { from: width, to: width }), act);
  return linear(g, hidden, output, { from: width, to: labels });
}

interface TwoLayers {
  dense: string;
  output: string;
  act: string;
  width: number;
  labels: number;
}
