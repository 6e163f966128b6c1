import { float } from '../writer/attributes.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { activation } from './activation.js';
import { convolution2d, type SquareSize } from './convolution.js';
import { groupWidth } from './head-sizes.js';

export interface GroupNormSize {
  /** Channels. */
  width: number;
  groups: number;
  epsilon: number;
  /** Axes behind the channels: two of images, three of videos. */
  axes?: number;
}

/**
 * torch's GroupNorm: float32 [rows, width, …], each group of channels normed over all positions.
 * @throws GraphError where groups don't make up the channels
 */
export function groupNorm(
  g: GraphWriter,
  x: Value,
  name: string,
  { width, groups, epsilon, axes = 2 }: GroupNormSize,
): Value {
  groupWidth(width, groups);
  const grouped = g.node('Reshape', [x, g.ints([0, groups, -1])]);
  const [ones, zeros] = [1, 0].map((value) => g.floats(new Float32Array(groups).fill(value))) as [
    ...[Value, Value],
  ];
  const normed = g.node('InstanceNormalization', [grouped, ones, zeros], { epsilon: float(epsilon) });
  const whole = g.node('Reshape', [normed, g.node('Shape', [x])]);
  const [scale, shift] = ['weight', 'bias'].map((part) =>
    g.node('Reshape', [
      g.weight(`${name}.${part}`, [width]),
      g.ints([width, ...Array<number>(axes).fill(1)]),
    ]),
  ) as [Value, Value];
  return g.node('Add', [g.node('Mul', [whole, scale]), shift]);
}

export interface GroupedConvolution extends Omit<SquareSize, 'groups'> {
  /** Absent where no activation follows. */
  act?: string;
}

/** A convolution and a GroupNorm of 32 groups behind it: `name.0` and `name.1`. */
export function groupedConvolution(
  g: GraphWriter,
  x: Value,
  name: string,
  { act, ...size }: GroupedConvolution,
): Value {
  const found = convolution2d(g, x, `${name}.0`, size);
  const even = groupNorm(g, found, `${name}.1`, { width: size.to, groups: 32, epsilon: 1e-5 });
  return act === undefined ? even : activation(g, even, act);
}
