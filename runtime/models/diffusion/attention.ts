import { attention } from '../layers/attention.js';
import { convolution2d } from '../layers/convolution.js';
import { groupNorm } from '../layers/group-norm.js';
import { headWidth } from '../layers/head-sizes.js';
import { linear } from '../layers/linear.js';
import { layerNorm } from '../layers/norm.js';
import { gridOf, imageOf, tokensOf } from '../layers/patch-embed.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { layerEndings } from '../writer/weights.js';

/** What attention reads in place of the image itself: float32 [rows, tokens, width]. */
export interface Source {
  states: Value;
  width: number;
}

interface Heads {
  heads: number;
  /** Of a head. */
  width: number;
}

interface Attention extends Heads {
  /** Of the states. */
  from: number;
  source?: Source | undefined;
  /** Queries, keys and values have a bias; the output always has one. */
  bias: boolean;
}

/** diffusers' Attention over tokens: float32 [rows, tokens, from]. */
function attended(g: GraphWriter, x: Value, name: string, { from, source, bias, ...size }: Attention): Value {
  const inner = size.heads * size.width;
  const read = source ?? { states: x, width: from };
  const projected = {
    query: linear(g, x, `${name}.to_q`, { from, to: inner, bias }),
    key: linear(g, read.states, `${name}.to_k`, { from: read.width, to: inner, bias }),
    value: linear(g, read.states, `${name}.to_v`, { from: read.width, to: inner, bias }),
  };
  const found = attention(g, projected, { heads: size.heads, width: inner });
  return linear(g, found, `${name}.to_out.0`, { from: inner, to: from });
}

/** Names of former versions, whose attention over images diffusers still reads. */
export const OLDER_NAMES = layerEndings({
  ...{ to_q: 'query', to_k: 'key', to_v: 'value' },
  'to_out.0': 'proj_attn',
});

export interface ImageAttention {
  width: number;
  /** Of a head. */
  headWidth: number;
  /** Of the norm before; none if absent. */
  groups: number | undefined;
  epsilon: number;
  /** What the sum is divided by. */
  divisor?: number;
}

/** Attention of an image's positions to each other: float32 [rows, width, height, width of the image]. */
export function imageAttention(g: GraphWriter, x: Value, name: string, size: ImageAttention): Value {
  const { width, groups, epsilon, divisor = 1 } = size;
  const heads = headWidth(width, size.headWidth);
  const normed = groups === undefined ? x : groupNorm(g, x, `${name}.group_norm`, { width, groups, epsilon });
  const found = attended(g, tokensOf(g, normed), name, {
    ...{ from: width, heads, width: size.headWidth, bias: true },
  });
  const sum = g.node('Add', [imageOf(g, found, gridOf(g, x)), x]);
  return divisor === 1 ? sum : g.node('Div', [sum, g.scalar(divisor)]);
}

export interface TransformerLayer extends Heads {
  /** Of the states. */
  from: number;
  /** What the second attention reads; the states themselves if absent. */
  source?: Source | undefined;
  /** The first one reads that, too. */
  onlySource?: boolean;
}

/** diffusers' BasicTransformerBlock: float32 [rows, tokens, from]. */
export function transformerLayer(g: GraphWriter, x: Value, name: string, layer: TransformerLayer): Value {
  const { from, source, onlySource = false, ...heads } = layer;
  const at = (part: string) => `${name}.${part}`;
  const added = (to: Value, norm: string, write: (read: Value) => Value) =>
    g.node('Add', [write(layerNorm(g, to, at(norm), { width: from, epsilon: 1e-5 })), to]);
  const attend = (part: string, of: Source | undefined) => (read: Value) =>
    attended(g, read, at(part), { from, source: of, bias: false, ...heads });
  const first = added(x, 'norm1', attend('attn1', onlySource ? source : undefined));
  const second = added(first, 'norm2', attend('attn2', source));
  return added(second, 'norm3', (read) => feedForward(g, read, at('ff.net'), from));
}

/** GEGLU. */
function feedForward(g: GraphWriter, x: Value, name: string, width: number): Value {
  const inner = 4 * width;
  const both = linear(g, x, `${name}.0.proj`, { from: width, to: 2 * inner });
  const [value, gate] = g.nodes('Split', [both, g.ints([inner, inner])], {
    ...{ outputs: 2, attributes: { axis: -1 } },
  }) as [Value, Value];
  const product = g.node('Mul', [value, g.node('Gelu', [gate])]);
  return linear(g, product, `${name}.2`, { from: inner, to: width });
}

export interface ImageTransformer {
  width: number;
  heads: number;
  layers: number;
  groups: number;
  source: Source;
  onlySource?: boolean;
  /** Projections around the layers are linear ones, and not convolutions. */
  isLinear: boolean;
}

/** diffusers' Transformer2DModel: float32 [rows, width, height, width of the image]. */
export function imageTransformer(
  g: GraphWriter,
  x: Value,
  name: string,
  { width, heads, layers, groups, isLinear, ...reads }: ImageTransformer,
): Value {
  const square = { from: width, to: width };
  const layer = { from: width, heads, width: headWidth(width, heads), ...reads };
  const normed = groupNorm(g, x, `${name}.norm`, { width, groups, epsilon: 1e-6 });
  const project = (value: Value, part: string) =>
    isLinear
      ? linear(g, value, `${name}.${part}`, square)
      : convolution2d(g, value, `${name}.${part}`, { ...square, kernel: 1 });
  let tokens = isLinear ? project(tokensOf(g, normed), 'proj_in') : tokensOf(g, project(normed, 'proj_in'));
  for (let i = 0; i < layers; i++)
    tokens = transformerLayer(g, tokens, `${name}.transformer_blocks.${i}`, layer);
  const image = (value: Value) => imageOf(g, value, gridOf(g, x));
  const found = isLinear ? image(project(tokens, 'proj_out')) : project(image(tokens), 'proj_out');
  return g.node('Add', [found, x]);
}
