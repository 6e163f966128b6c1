import * as z from 'zod';
import { float } from '../writer/attributes.js';
import { GraphError } from '../writer/errors.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { convolution, convolve } from './convolution.js';

/** HiFi-GAN, which makes audio of frames: enlargements, each with residual blocks behind it. */

const count = z.int().min(1).max(4096);
const list = z.array(count).min(1).max(32);
/** Others would change the length of what is added to. */
const odd = count.refine((kernel) => kernel % 2 === 1, 'kernels of even size are not known');

export const hifiGanConfig = {
  upsample_initial_channel: count.default(512),
  upsample_rates: list.default([8, 8, 2, 2]),
  upsample_kernel_sizes: list.default([16, 16, 4, 4]),
  resblock_kernel_sizes: z.array(odd).min(1).max(32).default([3, 7, 11]),
  resblock_dilation_sizes: z
    .array(list)
    .min(1)
    .max(32)
    .default([
      [1, 3, 5],
      [1, 3, 5],
      [1, 3, 5],
    ]),
  leaky_relu_slope: z.number().min(0).max(1).default(0.1),
};
export type HifiGanConfig = z.output<z.ZodObject<typeof hifiGanConfig>>;

export interface HifiGan {
  /** What names of tensors begin with, with a dot behind it. */
  base: string;
  /** Numbers of a frame. */
  from: number;
  /** True where the last convolution has a bias. */
  lastBias: boolean;
  /** Added to all frames: float32 [rows, upsample_initial_channel, 1]. */
  added?: Value | undefined;
}

/** Of torch's LeakyReLU, where Python names none. */
const LAST_SLOPE = 0.01;
const EDGE = 7;

const leaky = (g: GraphWriter, x: Value, slope: number): Value =>
  g.node('LeakyRelu', [x], { alpha: float(slope) });

/** float32 [rows, from, frames] -> [rows, 1, samples], the product of all rates for each frame. */
export function hifiGan(
  g: GraphWriter,
  frames: Value,
  c: HifiGanConfig,
  { base, from, lastBias, added }: HifiGan,
): Value {
  if (c.upsample_rates.length !== c.upsample_kernel_sizes.length)
    throw new GraphError('config.json: upsample_rates and upsample_kernel_sizes have other lengths');
  if (c.resblock_kernel_sizes.length !== c.resblock_dilation_sizes.length)
    throw new GraphError('config.json: resblock_kernel_sizes and resblock_dilation_sizes have other lengths');
  const edge = { kernel: [EDGE], padding: [(EDGE - 1) / 2] };
  const channels = (i: number) => Math.floor(c.upsample_initial_channel / 2 ** i);
  let x = convolution(g, frames, `${base}conv_pre`, { from, to: channels(0), ...edge });
  if (added) x = g.node('Add', [x, added]);
  c.upsample_rates.forEach((rate, i) => {
    const size = { from: channels(i), to: channels(i + 1), kernel: c.upsample_kernel_sizes[i]!, rate };
    const larger = enlarged(g, leaky(g, x, c.leaky_relu_slope), `${base}upsampler.${i}`, size);
    x = blocksOf(g, larger, c, { base, stage: i, width: size.to });
  });
  const last = { from: channels(c.upsample_rates.length), to: 1, bias: lastBias, ...edge };
  return g.node('Tanh', [convolution(g, leaky(g, x, LAST_SLOPE), `${base}conv_post`, last)]);
}

/** torch's ConvTranspose1d, whose weight is [from, to, kernel]. */
function enlarged(
  g: GraphWriter,
  x: Value,
  name: string,
  { from, to, kernel, rate }: { from: number; to: number; kernel: number; rate: number },
): Value {
  if (kernel < rate)
    throw new GraphError(`config.json: a kernel of ${kernel} does not cover an enlargement by ${rate}`);
  const padding = Math.floor((kernel - rate) / 2);
  const weights = [g.weight(`${name}.weight`, [from, to, kernel]), g.weight(`${name}.bias`, [to])];
  return g.node('ConvTranspose', [x, ...weights], {
    ...{ kernel_shape: [kernel], strides: [rate], pads: [padding, padding] },
  });
}

/** The mean of what the blocks of a stage make of it. */
function blocksOf(
  g: GraphWriter,
  x: Value,
  c: HifiGanConfig,
  { base, stage, width }: { base: string; stage: number; width: number },
): Value {
  const kernels = c.resblock_kernel_sizes;
  const found = kernels.map((kernel, j) => {
    const at = `${base}resblocks.${stage * kernels.length + j}`;
    const convolved = (from: Value, name: string, dilation: number) => {
      const shape = { kernel: [kernel], dilation: [dilation], padding: [(dilation * (kernel - 1)) / 2] };
      const weights = [
        g.weight(`${at}.${name}.weight`, [width, width, kernel]),
        g.weight(`${at}.${name}.bias`, [width]),
      ];
      return convolve(g, [leaky(g, from, c.leaky_relu_slope), ...weights], shape);
    };
    return c.resblock_dilation_sizes[j]!.reduce((state, dilation, i) => {
      const wide = convolved(state, `convs1.${i}`, dilation);
      return g.node('Add', [convolved(wide, `convs2.${i}`, 1), state]);
    }, x);
  });
  const sum = found.reduce((a, b) => g.node('Add', [a, b]));
  return g.node('Div', [sum, g.scalar(kernels.length)]);
}
