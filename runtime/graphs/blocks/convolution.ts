import { type Attributes, float } from '../attributes.js';
import type { GraphWriter, Value } from '../graph-writer.js';
import { groupWidth } from './heads.js';

export interface ConvolutionSize {
  from: number;
  to: number;
  /** One number for each axis of the picture or sound. */
  kernel: readonly number[];
  stride?: readonly number[];
  /** Zeros at both ends of each axis; `same` as TensorFlow has it: all that the stride needs, the odd one behind. */
  padding?: readonly number[] | 'same';
  dilation?: readonly number[];
  groups?: number;
  bias?: boolean;
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
  return padding === 'same' ? { auto_pad: 'SAME_UPPER' } : { pads: [...padding, ...padding] };
}

/** A square kernel over pictures, with padding that keeps their size at a stride of 1 unless another is given. */
export function convolution2d(
  g: GraphWriter,
  x: Value,
  name: string,
  { kernel, stride = 1, padding = Math.floor(kernel / 2), ...rest }: SquareSize,
): Value {
  const both = (value: number) => [value, value];
  const square = { kernel: both(kernel), stride: both(stride), padding: both(padding) };
  return convolution(g, x, name, { ...rest, ...square });
}

export interface SquareSize {
  from: number;
  to: number;
  kernel: number;
  stride?: number;
  padding?: number;
  groups?: number;
  bias?: boolean;
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
