import * as z from 'zod';
import { convolve } from '../../layers/convolution.js';
import { groupNorm } from '../../layers/group-norm.js';
import { groupWidth } from '../../layers/head-sizes.js';
import { lookedUp } from '../../layers/linear.js';
import { lstm } from '../../layers/lstm.js';
import { normedWeight } from '../../layers/weight-norm.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import { size } from '../../config-fields.js';

const few = z.int().min(1).max(4096);

/** What makes audio of codes in EnCodec. */
export const encodecConfig = z.object({
  model_type: z.literal('encodec', 'codecs other than encodec are not known'),
  audio_channels: z.literal(1, 'only one channel is known').default(1),
  normalize: z.literal(false, 'audio with scales is not known').default(false),
  chunk_length_s: z.null('audio in chunks is not known').default(null),
  ...{ hidden_size: size.default(128), num_filters: few.default(32), codebook_size: size.default(1024) },
  codebook_dim: size.nullable().default(null),
  num_residual_layers: z.int().min(0).max(32).default(1),
  upsampling_ratios: z.array(few).min(1).max(16).default([8, 5, 4, 2]),
  norm_type: z.enum(['weight_norm', 'time_group_norm']).default('weight_norm'),
  ...{ kernel_size: few.default(7), last_kernel_size: few.default(7), residual_kernel_size: few.default(3) },
  dilation_growth_rate: few.default(2),
  use_causal_conv: z.boolean().default(true),
  pad_mode: z.enum(['reflect', 'constant', 'replicate']).default('reflect'),
  compress: few.default(2),
  num_lstm_layers: z.int().min(1).max(16).default(2),
  trim_right_ratio: z.number().min(0).max(1).default(1),
  use_conv_shortcut: z.boolean().default(true),
});
export type EncodecConfig = z.output<typeof encodecConfig>;

/** torch's names of ways to pad, in ONNX. */
const MODES = { reflect: 'reflect', constant: 'constant', replicate: 'edge' } as const;

interface Codec {
  c: EncodecConfig;
}

interface Books {
  /** How many there are. */
  codebooks: number;
  /** What names of tensors begin with, with a dot behind it. */
  base: string;
}

/** The sum of the vectors of all codebooks: int64 [1, codebooks, frames] -> float32 [1, hidden_size, frames]. */
function vectorsOf(g: GraphWriter, codes: Value, c: EncodecConfig, { codebooks: count, base }: Books): Value {
  const table = { rows: c.codebook_size, width: c.codebook_dim ?? c.hidden_size };
  const found = Array.from({ length: count }, (_, i) => {
    const own = g.node('Gather', [codes, g.ints([i], [])], { axis: 1 });
    return lookedUp(g, own, `${base}quantizer.layers.${i}.codebook.embed`, table);
  });
  const sum = found.reduce((a, b) => g.node('Add', [a, b]));
  return g.node('Transpose', [sum], { perm: [0, 2, 1] });
}

/** Audio of codes: int64 [1, codebooks, frames] -> float32 [1, 1, samples]. modeling_encodec.py */
export function encodecAudio(
  g: GraphWriter,
  codes: Value,
  c: EncodecConfig,
  { codebooks, base }: Books,
): Value {
  const { upsampling_ratios: ratios, num_filters: filters } = c;
  const widest = filters * 2 ** ratios.length;
  let [layer, width] = [0, widest];
  const next = () => `${base}decoder.layers.${layer++}`;
  const elu = (value: Value) => g.node('Elu', [value]);
  let x = vectorsOf(g, codes, c, { codebooks, base });
  x = padded(g, x, next(), { c, from: c.hidden_size, to: widest, kernel: c.kernel_size });
  x = remembered(g, x, `${next()}.lstm`, { width, layers: c.num_lstm_layers });
  for (const ratio of ratios) {
    layer++;
    x = enlarged(g, elu(x), next(), { c, from: width, ratio });
    width /= 2;
    for (let j = 0; j < c.num_residual_layers; j++)
      x = residual(g, x, next(), { c, width, dilation: c.dilation_growth_rate ** j });
  }
  layer++;
  return padded(g, elu(x), next(), { c, from: filters, to: 1, kernel: c.last_kernel_size });
}

/** x and what an LSTM makes of it: float32 [1, width, steps]. */
function remembered(g: GraphWriter, x: Value, name: string, size: { width: number; layers: number }): Value {
  const steps = g.node('Transpose', [x], { perm: [2, 0, 1] });
  return g.node('Transpose', [g.node('Add', [lstm(g, steps, name, size), steps])], { perm: [1, 2, 0] });
}

function residual(
  g: GraphWriter,
  x: Value,
  at: string,
  { c, width, dilation }: Codec & { width: number; dilation: number },
): Value {
  const inner = Math.floor(width / c.compress);
  const first = { from: width, to: inner, kernel: c.residual_kernel_size, dilation };
  const wide = padded(g, g.node('Elu', [x]), `${at}.block.1`, { c, ...first });
  const found = padded(g, g.node('Elu', [wide]), `${at}.block.3`, {
    c,
    from: inner,
    to: width,
    kernel: 1,
  });
  const short = c.use_conv_shortcut
    ? padded(g, x, `${at}.shortcut`, { c, from: width, to: width, kernel: 1 })
    : x;
  return g.node('Add', [short, found]);
}

interface Size {
  from: number;
  to: number;
  kernel: number;
  dilation?: number;
}

/** A convolution that keeps the length, at the front alone where it is causal. */
function padded(
  g: GraphWriter,
  x: Value,
  name: string,
  { c, from, to, kernel, dilation = 1 }: Codec & Size,
): Value {
  const total = (kernel - 1) * dilation;
  const right = c.use_causal_conv ? 0 : Math.floor(total / 2);
  const read = total === 0 ? x : withEdges(g, x, [total - right, right], c.pad_mode);
  const found = convolve(g, [read, ...weightsOf(g, name, { c, shape: [to, from, kernel], to })], {
    ...{ kernel: [kernel], dilation: [dilation] },
  });
  return normed(g, found, name, { c, width: to });
}

interface Kernel extends Codec {
  shape: readonly [number, number, number];
  /** Channels of what comes out. */
  to: number;
}

/** Weight and bias of a convolution. */
function weightsOf(g: GraphWriter, name: string, { c, shape, to }: Kernel): Value[] {
  const own = `${name}.conv`;
  const weight =
    c.norm_type === 'weight_norm' ? normedWeight(g, own, shape) : g.weight(`${own}.weight`, shape);
  return [weight, g.weight(`${own}.bias`, [to])];
}

/** torch's default for norms. */
const EPSILON = 1e-5;

/** Over all channels and the whole time, where weights have no norms of their own. */
function normed(g: GraphWriter, x: Value, name: string, { c, width }: Codec & { width: number }): Value {
  if (c.norm_type === 'weight_norm') return x;
  return groupNorm(g, x, `${name}.norm`, { width, groups: 1, epsilon: EPSILON, axes: 1 });
}

/** What is shorter than its mirrored edges is filled up with zeros first, which are cut off again. */
function withEdges(
  g: GraphWriter,
  x: Value,
  [left, right]: readonly [number, number],
  mode: EncodecConfig['pad_mode'],
): Value {
  const pads = g.ints([0, 0, left, 0, 0, right]);
  if (mode !== 'reflect') return g.node('Pad', [x, pads], { mode: MODES[mode] });
  const length = g.node('Shape', [x], { start: 2, end: 3 });
  const lacks = g.node('Sub', [g.ints([Math.max(left, right) + 1]), length]);
  const more = g.node('Max', [lacks, g.ints([0])]);
  const filled = g.node('Pad', [x, g.node('Concat', [g.ints([0, 0, 0, 0, 0]), more], { axis: 0 })]);
  const mirrored = g.node('Pad', [filled, pads], { mode: MODES[mode] });
  const end = g.node('Sub', [g.node('Shape', [mirrored], { start: 2, end: 3 }), more]);
  return g.node('Slice', [mirrored, g.ints([0]), end, g.ints([2])]);
}

/** Half the channels, `ratio` times as long. */
function enlarged(
  g: GraphWriter,
  x: Value,
  name: string,
  { c, from, ratio }: Codec & { from: number; ratio: number },
): Value {
  const [to, kernel] = [groupWidth(from, 2), 2 * ratio];
  const weights = weightsOf(g, name, { c, shape: [from, to, kernel], to });
  const found = g.node('ConvTranspose', [x, ...weights], { kernel_shape: [kernel], strides: [ratio] });
  const whole = normed(g, found, name, { c, width: to });
  // What is too long by a ratio is cut off, behind the norm.
  const right = c.use_causal_conv ? Math.ceil(ratio * c.trim_right_ratio) : Math.floor(ratio / 2);
  const end = right === 0 ? 2 ** 53 : -right;
  return g.node('Slice', [whole, g.ints([ratio - right]), g.ints([end]), g.ints([2])]);
}
