import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { activation } from './activation.js';
import { batchNorm, convolution, type ConvolutionSize } from './convolution.js';
import { gatedChannels } from './glu.js';

export interface ConformerConvolution {
  at(name: string): string;
  width: number;
  /** Channels between both layers over all of them; `width` if absent. */
  inner?: number;
  kernel: number;
  padding: ConvolutionSize['padding'];
  bias: boolean;
  /** Of the convolution over steps; `bias` if absent. */
  stepBias?: boolean;
  act: string;
  /** What the convolution over steps reads of float32 [rows, width, steps], where padding is to be silent. */
  masked?(gated: Value): Value;
}

/** Gates, a convolution of each channel over the steps around, its norm, and one over all channels: [rows, steps, width]. */
export function conformerConvolution(g: GraphWriter, x: Value, c: ConformerConvolution): Value {
  const { at, width, inner = width, bias, stepBias = bias } = c;
  const turned = (value: Value) => g.node('Transpose', [value], { perm: [0, 2, 1] });
  const both = convolution(g, turned(x), at('pointwise_conv1'), {
    ...{ from: width, to: 2 * inner, kernel: [1], bias },
  });
  const gated = gatedChannels(g, both, inner);
  const each = convolution(g, c.masked?.(gated) ?? gated, at('depthwise_conv'), {
    ...{ from: inner, to: inner, kernel: [c.kernel], groups: inner, bias: stepBias, padding: c.padding },
  });
  const found = activation(g, batchNorm(g, each, at('norm'), { width: inner }), c.act);
  return turned(convolution(g, found, at('pointwise_conv2'), { from: inner, to: width, kernel: [1], bias }));
}
