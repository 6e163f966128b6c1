import { normedConvolution } from '../layers/convolution.js';
import type { GraphWriter } from '../writer/graph-writer.js';
import { type Channels, groupsOf, shapeOf } from './config.js';

export interface NormedStep {
  convolution: string;
  norm: string;
  stride?: number;
  /** False where no activation follows. */
  active?: boolean;
}

/** A convolution of the size that its weight has, its norm and Relu. */
export function normed(
  g: GraphWriter,
  { x, width: from }: Channels,
  { convolution, norm, stride = 1, active = true }: NormedStep,
): Channels {
  const [to, each, kernel] = shapeOf(g, `${convolution}.weight`, 4);
  const size = { from, to, kernel, stride, groups: groupsOf(from, each) };
  return {
    x: normedConvolution(g, x, { convolution, norm }, { ...size, act: active ? 'relu' : undefined }),
    width: to,
  };
}
