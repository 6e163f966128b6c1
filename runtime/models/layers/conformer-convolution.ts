import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { activation } from './activation.js';
import { batchNorm, convolution, type ConvolutionSize } from './convolution.js';
import { gatedChannels } from './glu.js';

export interface ConformerConvolution {
  at(name: string): string;
  width: number;
  kernel: number;
  padding: ConvolutionSize['padding'];
  bias: boolean;
  act: string;
  /** What the convolution over steps reads of float32 [rows, width, steps], where padding is to be silent. */
  masked?(gated: Value): Value;
}

/** Gates, a convolution of each channel over the steps around, its norm, and one over all channels: [rows, steps, width]. */
export function conformerConvolution(g: GraphWriter, x: Value, c: ConformerConvolution): Value {
  const { at, width, bias } = c;
  const turned = (value: Value) => g.node('Transpose', [value], { perm: [0, 2, 1] });
  const both = convolution(g, turned(x), at('pointwise_conv1'), {
    ...{ from: width, to: 2 * width, kernel: [1], bias },
  });
  const gated = gatedChannels(g, both, width);
  const each = convolution(g, c.masked?.(gated) ?? gated, at('depthwise_conv'), {
    ...{ from: width, to: width, kernel: [c.kernel], groups: width, bias, padding: c.padding },
  });
  const found = activation(g, batchNorm(g, each, at('norm'), { width }), c.act);
  return turned(convolution(g, found, at('pointwise_conv2'), { from: width, to: width, kernel: [1], bias }));
}
