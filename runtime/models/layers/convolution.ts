import { type Attributes, float } from '../writer/attributes.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { activation } from './activation.js';
import { groupWidth } from './head-sizes.js';

export interface ConvolutionSize {
  from: number;
  to: number;
  /** One number for each axis of the image or audio. */
  kernel: readonly number[];
  stride?: readonly number[];
  /**
   * Zeros at both ends of each axis, or other ones at each; `same` as TensorFlow has it: all that the stride needs, the odd
   * one behind.
   */
  padding?: readonly number[] | Ends | 'same';
  dilation?: readonly number[];
  groups?: number;
  bias?: boolean;
}

/** Zeros before and behind each axis. */
export interface Ends {
  before: readonly number[];
  behind: readonly number[];
}

/** torch's Conv1d and Conv2d: float32 [rows, from, …] -> [rows, to, …]. */
export function convolution(
  g: GraphWriter,
  x: Value,
  name: string,
  { from, to, bias = true, groups = 1, ...rest }: ConvolutionSize,
): Value {
  const weight = g.weight(`${name}.weight`, [to, groupWidth(from, groups), ...rest.kernel]);
  const inputs = bias ? [x, weight, g.weight(`${name}.bias`, [to])] : [x, weight];
  return convolve(g, inputs, { groups, ...rest });
}

/** The same with a weight that is computed: [x, weight] or [x, weight, bias]. */
export function convolve(
  g: GraphWriter,
  inputs: readonly Value[],
  { kernel, stride, padding, dilation, groups = 1 }: Omit<ConvolutionSize, 'from' | 'to' | 'bias'>,
): Value {
  return g.node('Conv', inputs, {
    kernel_shape: kernel,
    group: groups,
    ...(stride && { strides: stride }),
    ...padsOf(padding),
    ...(dilation && { dilations: dilation }),
  });
}

function padsOf(padding: ConvolutionSize['padding']): Attributes {
  if (padding === undefined) return {};
  if (padding === 'same') return { auto_pad: 'SAME_UPPER' };
  const { before, behind } = 'before' in padding ? padding : { before: padding, behind: padding };
  return { pads: [...before, ...behind] };
}

/** A square kernel over images, with padding that keeps their size at a stride of 1 unless another is given. */
export function convolution2d(
  g: GraphWriter,
  x: Value,
  name: string,
  { kernel, stride = 1, dilation = 1, padding = Math.floor(kernel / 2) * dilation, ...rest }: SquareSize,
): Value {
  const both = (value: number) => [value, value];
  const ends =
    typeof padding === 'number' ? both(padding) : { before: both(padding[0]), behind: both(padding[1]) };
  const square = {
    ...{ kernel: both(kernel), stride: both(stride), padding: ends },
    ...(dilation !== 1 && { dilation: both(dilation) }),
  };
  return convolution(g, x, name, { ...rest, ...square });
}

export interface SquareSize {
  from: number;
  to: number;
  kernel: number;
  stride?: number;
  /** Cells from one that a kernel reads to the next. */
  dilation?: number;
  /** One number, or what stands before and behind each axis. */
  padding?: number | readonly [before: number, behind: number];
  groups?: number;
  bias?: boolean;
}

/** Names of a convolution and of the norm behind it. */
export interface NormedNames {
  convolution: string;
  norm: string;
}

export interface NormedSize extends Omit<SquareSize, 'bias'> {
  /** Absent where no activation follows. */
  act?: string | undefined;
  epsilon?: number;
}

/** A convolution without bias, its norm and an activation. */
export function normedConvolution(
  g: GraphWriter,
  x: Value,
  { convolution, norm }: NormedNames,
  { act, epsilon = 1e-5, ...size }: NormedSize,
): Value {
  const found = convolution2d(g, x, convolution, { ...size, bias: false });
  const even = batchNorm(g, found, norm, { width: size.to, epsilon });
  return act === undefined ? even : activation(g, even, act);
}

/** torch's BatchNorm as inference has it, from its running mean and variance. */
export function batchNorm(
  g: GraphWriter,
  x: Value,
  name: string,
  { width, epsilon = 1e-5 }: { width: number; epsilon?: number },
): Value {
  const parts = ['weight', 'bias', 'running_mean', 'running_var'].map((part) =>
    g.weight(`${name}.${part}`, [width]),
  );
  return g.node('BatchNormalization', [x, ...parts], { epsilon: float(epsilon) });
}
