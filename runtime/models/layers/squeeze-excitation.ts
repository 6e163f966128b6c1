import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { activation } from './activation.js';
import { convolution2d } from './convolution.js';

export interface SqueezeExcitation {
  /** Names of the layers that narrow the mean of an image, and widen it again. */
  narrow: string;
  wide: string;
  width: number;
  inner: number;
  /** Between them. */
  act: string;
  /** Behind them; `sigmoid` if absent. */
  gate?: string | undefined;
}

/** Scales each channel by what the means of all say of it: float32 [rows, width, lines, columns]. */
export function squeezeExcitation(
  g: GraphWriter,
  x: Value,
  { narrow, wide, width, inner, act, gate = 'sigmoid' }: SqueezeExcitation,
): Value {
  const mean = g.node('GlobalAveragePool', [x]);
  const read = convolution2d(g, mean, narrow, { from: width, to: inner, kernel: 1 });
  const found = convolution2d(g, activation(g, read, act), wide, { from: inner, to: width, kernel: 1 });
  return g.node('Mul', [x, activation(g, found, gate)]);
}
