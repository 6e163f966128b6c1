import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { activation } from './activation.js';
import { convolution2d } from './convolution.js';
import { linear, type LinearSize } from './linear.js';
import { channelsFirst, channelsLast, layerNorm } from './norm.js';
import { responseNorm } from './global-response-norm.js';

/** Names of a layer's parts. */
export interface ConvnextNames {
  depthwise: string;
  norm: string;
  wide: string;
  narrow: string;
  /** A vector that scales what the layer adds. */
  scale?: string | undefined;
  /** A norm of each channel's response, with the shape of its weights. */
  response?: { name: string; shape: readonly number[] } | undefined;
}

export interface ConvnextLayer {
  names: ConvnextNames;
  width: number;
  inner: number;
  kernel: number;
  act: string;
  epsilon: number;
  /** Multiplies the last axis; a linear layer if absent. */
  project?(g: GraphWriter, x: Value, name: string, size: LinearSize): Value;
}

/** Each channel over its neighbourhood, then all channels of each position: float32 [rows, width, lines, columns]. */
export function convnextLayer(
  g: GraphWriter,
  x: Value,
  { names, width, inner, kernel, act, epsilon, project = linear }: ConvnextLayer,
): Value {
  const apart = { from: width, to: width, kernel, groups: width };
  const near = channelsLast(g, convolution2d(g, x, names.depthwise, apart));
  const read = layerNorm(g, near, names.norm, { width, epsilon });
  const wide = activation(g, project(g, read, names.wide, { from: width, to: inner }), act);
  const { response, scale } = names;
  const kept = response
    ? responseNorm(g, wide, response.name, { shape: response.shape, epsilon: RESPONSE_EPSILON })
    : wide;
  const narrow = project(g, kept, names.narrow, { from: inner, to: width });
  const scaled = scale === undefined ? narrow : g.node('Mul', [narrow, g.weight(scale, [width])]);
  return g.node('Add', [x, channelsFirst(g, scaled)]);
}

const RESPONSE_EPSILON = 1e-6;
