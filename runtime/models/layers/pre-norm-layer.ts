import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { activation } from './activation.js';
import { attention, type AttentionOptions, type Attended } from './attention.js';
import { linear, type LinearOptions } from './linear.js';
import { headWidth } from './head-sizes.js';
import { layerNorm, type NormOptions, rmsNorm } from './norm.js';
import { splitRows } from './fused-projections.js';

type Bias = LinearOptions['bias'];

/** Names of a layer's parts. */
export interface PreNormNames {
  attentionNorm: string;
  /** One matrix for all three where it is the only one. */
  query: string;
  key?: string | undefined;
  value?: string | undefined;
  output: string;
  norm: string;
  wide: string;
  narrow: string;
}

export interface PreNormSize {
  width: number;
  inner: number;
  heads: number;
  epsilon: number;
  act: string;
}

export interface PreNormLayer extends PreNormSize, Omit<AttentionOptions, 'heads' | 'width' | 'bias'> {
  names: PreNormNames;
  at: (name: string) => string;
  /** Added to scores, for some of what the projections read. */
  bias?: Value | ((read: Value) => Value) | undefined;
  /** Of the layers; all have one if absent. */
  biases?: { query?: Bias; key?: Bias; value?: Bias; output?: Bias; feedForward?: Bias };
  /** In place of LayerNorm. */
  norm?: ((g: GraphWriter, x: Value, name: string, size: NormOptions) => Value) | undefined;
  /** Names of the RMSNorms of all heads of queries and of keys. */
  headNorms?: readonly [query: string, key: string] | undefined;
  /** In place of projections by those names. */
  project?: ((g: GraphWriter, read: Value) => Attended) | undefined;
  /** Between attention and its output. */
  behind?: ((g: GraphWriter, attended: Value) => Value) | undefined;
  /** Turns the heads of queries and keys, float32 [rows, tokens, width]. */
  turn?: (x: Value) => Value;
  /** Names of vectors [width] that scale what attention adds, and feed-forward. */
  scales?: readonly [attention: string, feedForward?: string] | undefined;
  /** In place of two layers with the activation between them. */
  feedForward?: ((g: GraphWriter, x: Value) => Value) | undefined;
}

/** A layer of an encoder whose norms stand before attention and feed-forward: float32 [rows, tokens, width]. */
export function preNormLayer(g: GraphWriter, x: Value, layer: PreNormLayer): Value {
  const { names, at, width, epsilon, scales, norm = layerNorm, turn = (heads) => heads } = layer;
  const normed = norm(g, x, at(names.attentionNorm), { width, epsilon });
  const projected = normedHeads(g, layer.project?.(g, normed) ?? projections(g, normed, layer), layer);
  const bias = typeof layer.bias === 'function' ? layer.bias(normed) : layer.bias;
  const turned = { ...projected, query: turn(projected.query), key: turn(projected.key) };
  const attended = attention(g, turned, { ...layer, bias });
  const outputSize = { from: width, to: width, bias: layer.biases?.output ?? true };
  const output = linear(g, layer.behind?.(g, attended) ?? attended, at(names.output), outputSize);
  const middle = g.node('Add', [scaledBy(g, output, scales && at(scales[0]), width), x]);
  const read = norm(g, middle, at(names.norm), { width, epsilon });
  const found = layer.feedForward ? layer.feedForward(g, read) : feedForward(g, read, layer);
  return g.node('Add', [scaledBy(g, found, scales?.[1] && at(scales[1]), width), middle]);
}

function projections(g: GraphWriter, x: Value, { names, at, width, heads, biases = {} }: PreNormLayer) {
  const { query, key, value } = names;
  const project = (name: string, bias: Bias = true) =>
    linear(g, x, at(name), { from: width, to: width, bias });
  if (key !== undefined && value !== undefined)
    return {
      query: project(query, biases.query),
      key: project(key, biases.key),
      value: project(value, biases.value),
    };
  const fused = linear(g, x, at(query), { from: width, to: 3 * width, bias: biases.query ?? true });
  return splitRows(g, fused, { heads, keyHeads: heads, width: headWidth(width, heads) });
}

/** Of RMSNorms over heads. */
const HEAD_EPSILON = 1e-6;

function normedHeads(g: GraphWriter, projected: Attended, { headNorms, at, width }: PreNormLayer): Attended {
  if (!headNorms) return projected;
  const normed = (x: Value, name: string) => rmsNorm(g, x, at(name), { width, epsilon: HEAD_EPSILON });
  const [query, key] = headNorms;
  return { ...projected, query: normed(projected.query, query), key: normed(projected.key, key) };
}

function feedForward(g: GraphWriter, x: Value, layer: PreNormLayer): Value {
  const { names, at, width, inner, act, biases } = layer;
  const bias = biases?.feedForward ?? true;
  const wide = activation(g, linear(g, x, at(names.wide), { from: width, to: inner, bias }), act);
  return linear(g, wide, at(names.narrow), { from: inner, to: width, bias });
}

function scaledBy(g: GraphWriter, x: Value, name: string | undefined, width: number): Value {
  return name === undefined ? x : g.node('Mul', [x, g.weight(name, [width])]);
}
