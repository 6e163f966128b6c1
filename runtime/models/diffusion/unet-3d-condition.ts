import * as z from 'zod';
import { defineFamily } from '../family.js';
import { activation } from '../layers/activation.js';
import { convolution, convolution2d } from '../layers/convolution.js';
import { groupNorm } from '../layers/group-norm.js';
import { headWidth } from '../layers/head-sizes.js';
import { linear } from '../layers/linear.js';
import { residualBlock } from '../layers/resnet-block.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { size } from '../config-fields.js';
import { imageTransformer, type Source, transformerLayer } from './attention.js';
import { blockSizes, channels, levels, listOf, perLevel, unetConfig } from './config.js';
import { timeLayers, timeSines } from './time.js';
import { type LayerOf, writeUShape } from './u-shape.js';

const config = z.object({
  downsample_padding: unetConfig.downsample_padding,
  mid_block_scale_factor: unetConfig.mid_block_scale_factor,
  layers_per_block: z.int().min(1).max(64).default(2),
  act_fn: unetConfig.act_fn,
  norm_num_groups: unetConfig.norm_num_groups,
  norm_eps: unetConfig.norm_eps,
  in_channels: channels.default(4),
  out_channels: channels.default(4),
  down_block_types: z
    .array(z.enum(['CrossAttnDownBlock3D', 'DownBlock3D']))
    .default([...Array<'CrossAttnDownBlock3D'>(3).fill('CrossAttnDownBlock3D'), 'DownBlock3D']),
  up_block_types: z
    .array(z.enum(['CrossAttnUpBlock3D', 'UpBlock3D']))
    .default(['UpBlock3D', ...Array<'CrossAttnUpBlock3D'>(3).fill('CrossAttnUpBlock3D')]),
  block_out_channels: levels.default([320, 640, 1280, 1280]),
  cross_attention_dim: size.default(1024),
  attention_head_dim: perLevel(size).default(64),
  num_attention_heads: z.null().optional(),
  time_cond_proj_dim: z.null().optional(),
});
type Config = z.output<typeof config>;

/** A video as its frames lie, [rows · frames, channels, height, width], and how many of them are one video's. */
interface Video {
  /** int64 [1] */
  frames: Value;
  groups: number;
}

/** A part of the network that reads videos. */
interface VideoPart {
  name: string;
  video: Video;
  /** Channels. */
  width: number;
}

/** float32 [rows · frames, width, …] -> [rows, width, frames, …] */
function byVideo(g: GraphWriter, x: Value, { frames }: Video): Value {
  const positions = g.node('Shape', [x], { start: 1 });
  const shape = g.node('Concat', [g.ints([-1]), frames, positions], { axis: 0 });
  return g.node('Transpose', [g.node('Reshape', [x, shape])], { perm: [0, 2, 1, 3, 4] });
}

/** The way back, to the shape of `like`. */
const byFrame = (g: GraphWriter, x: Value, like: Value): Value =>
  g.node('Reshape', [g.node('Transpose', [x], { perm: [0, 2, 1, 3, 4] }), g.node('Shape', [like])]);

/** Four convolutions over neighbouring frames. */
function overFrames(g: GraphWriter, x: Value, { name, video, width }: VideoPart): Value {
  const videos = byVideo(g, x, video);
  const found = [1, 2, 3, 4].reduce((read, i) => {
    const at = `${name}.conv${i}`;
    const norm = { width, groups: video.groups, epsilon: 1e-5, axes: 3 };
    const act = activation(g, groupNorm(g, read, `${at}.0`, norm), 'silu');
    const size = { from: width, to: width, kernel: [3, 1, 1], padding: [1, 0, 0] };
    // Behind the first one stands a dropout.
    return convolution(g, act, `${at}.${i === 1 ? 2 : 3}`, size);
  }, videos);
  return byFrame(g, g.node('Add', [videos, found]), x);
}

interface FrameTransformer extends VideoPart {
  heads: number;
  /** Of a head. */
  headWidth: number;
}

/** A transformer over the frames of each position. */
function frameTransformer(
  g: GraphWriter,
  x: Value,
  { name, video, width, heads, headWidth: ofHead }: FrameTransformer,
): Value {
  const inner = heads * ofHead;
  const norm = { width, groups: video.groups, epsilon: 1e-6, axes: 3 };
  const normed = groupNorm(g, byVideo(g, x, video), `${name}.norm`, norm);
  // [rows, height, width, frames, channels]
  const positions = g.node('Transpose', [normed], { perm: [0, 3, 4, 2, 1] });
  const rows = g.node('Reshape', [
    ...[positions, g.node('Concat', [g.ints([-1]), video.frames, g.ints([width])], { axis: 0 })],
  ]);
  const read = linear(g, rows, `${name}.proj_in`, { from: width, to: inner });
  const found = transformerLayer(g, read, `${name}.transformer_blocks.0`, {
    ...{ from: inner, heads, width: ofHead },
  });
  const narrow = linear(g, found, `${name}.proj_out`, { from: inner, to: width });
  const parted = g.node('Reshape', [narrow, g.node('Shape', [positions])]);
  const frames = g.node('Transpose', [parted], { perm: [0, 3, 4, 1, 2] });
  return g.node('Add', [g.node('Reshape', [frames, g.node('Shape', [x])]), x]);
}

/** Rows of what is read beside a video, one for each frame: float32 [rows or 1, …] -> [rows · frames, …]. */
function forFrames(g: GraphWriter, x: Value, counts: Value, rest: readonly (number | Value)[]): Value {
  const sizes = rest.map((one) => (typeof one === 'number' ? g.ints([one]) : one));
  const wide = g.node('Expand', [
    ...[
      g.node('Unsqueeze', [x, g.ints([1])]),
      g.node('Concat', [counts, ...sizes.map(() => g.ints([1]))], { axis: 0 }),
    ],
  ]);
  return g.node('Reshape', [wide, g.node('Concat', [g.ints([-1]), ...sizes], { axis: 0 })]);
}

function writeUnet(g: GraphWriter, c: Config): void {
  const widths = c.block_out_channels;
  const [first, last] = [widths[0]!, widths.at(-1)!];
  const given = g.input('sample', 'float32', ['rows', c.in_channels, 'frames', 'height', 'width']);
  const shape = g.node('Shape', [given]);
  const part = (from: number) => g.node('Slice', [shape, g.ints([from]), g.ints([from + 1])]);
  const video: Video = { frames: part(2), groups: c.norm_num_groups };
  const counts = g.node('Concat', [part(0), video.frames], { axis: 0 });
  const block = { ...blockSizes(c), time: timeOf(g, c, counts) };
  const source = sourceOf(g, c, counts);
  const frames = g.node('Reshape', [
    g.node('Transpose', [given], { perm: [0, 2, 1, 3, 4] }),
    g.node('Concat', [g.ints([-1, c.in_channels]), part(3), part(4)], { axis: 0 }),
  ]);
  const start = convolution2d(g, frames, 'conv_in', { from: c.in_channels, to: first, kernel: 3 });
  const head = listOf('attention_head_dim', c.attention_head_dim, widths.length);
  const seen = frameTransformer(g, start, {
    ...{ name: 'transformer_in', video, width: first, heads: 8, headWidth: head[0]! },
  });
  const attend = attentionOf(c, source, video);
  const x = writeUShape(g, seen, {
    ...{ widths, padding: c.downsample_padding },
    layers: widths.map(() => c.layers_per_block),
    layer(_, before, of) {
      const found = residualBlock(g, before, of.at('resnets'), { ...block, from: of.from, to: of.to });
      const part = { name: of.at('temp_convs'), video, width: of.to };
      return attend.level(g, overFrames(g, found, part), of);
    },
    middle(_, before) {
      const size = { ...block, from: last, to: last, divisor: c.mid_block_scale_factor };
      const at = (name: string) => `mid_block.${name}`;
      const both = (read: Value, i: number) => {
        const part = { name: at(`temp_convs.${i}`), video, width: last };
        return overFrames(g, residualBlock(g, read, at(`resnets.${i}`), size), part);
      };
      return both(attend.middle(g, both(before, 0)), 1);
    },
  });
  const normed = groupNorm(g, x, 'conv_norm_out', { width: first, ...blockSizes(c) });
  const size = { from: first, to: c.out_channels, kernel: 3 };
  const noise = byVideo(g, convolution2d(g, activation(g, normed, c.act_fn), 'conv_out', size), video);
  g.output('out_sample', noise, 'float32', ['rows', c.out_channels, 'frames', 'height', 'width']);
}

function timeOf(g: GraphWriter, c: Config, counts: Value) {
  const from = c.block_out_channels[0]!;
  const width = 4 * from;
  const times = g.input('timestep', 'float32', ['steps']);
  const sines = timeSines(g, times, { width: from, flipped: true, shift: 0 });
  const states = timeLayers(g, sines, 'time_embedding', { from, to: width, act: c.act_fn });
  return { states: forFrames(g, states, counts, [width]), width, scales: false };
}

function sourceOf(g: GraphWriter, c: Config, counts: Value): Source {
  const width = c.cross_attention_dim;
  const states = g.input('encoder_hidden_states', 'float32', ['rows', 'tokens', width]);
  const tokens = g.node('Shape', [states], { start: 1, end: 2 });
  return { states: forFrames(g, states, counts, [tokens, width]), width };
}

/** What comes behind the residual blocks of a level, and between those of the middle: positions, then frames. */
function attentionOf(c: Config, source: Source, video: Video) {
  const count = c.block_out_channels.length;
  const kinds = {
    down: listOf('down_block_types', c.down_block_types, count).map((kind) => kind.startsWith('CrossAttn')),
    up: listOf('up_block_types', c.up_block_types, count).map((kind) => kind.startsWith('CrossAttn')),
  };
  const down = listOf('attention_head_dim', c.attention_head_dim, count);
  const headWidths = { down, up: down.toReversed() };
  const both = (
    g: GraphWriter,
    x: Value,
    at: (part: string) => string,
    [width, ofHead]: readonly [number, number],
  ): Value => {
    const heads = headWidth(width, ofHead);
    const seen = imageTransformer(g, x, at('attentions'), {
      ...{ width, heads, layers: 1, groups: video.groups, source, isLinear: true },
    });
    const part = { name: at('temp_attentions'), video, width };
    return frameTransformer(g, seen, { ...part, heads, headWidth: ofHead });
  };
  return {
    level: (g: GraphWriter, x: Value, { at, to, level, way }: LayerOf): Value =>
      kinds[way][level] ? both(g, x, at, [to, headWidths[way][level]!]) : x,
    middle: (g: GraphWriter, x: Value): Value =>
      both(g, x, (part) => `mid_block.${part}.0`, [c.block_out_channels.at(-1)!, down.at(-1)!]),
  };
}

/** Videos and prompts. unet_3d_condition.py of diffusers */
export const unet3dCondition = defineFamily({
  modelTypes: ['UNet3DConditionModel'],
  config,
  prefixes: [],
  heads: { 'text-to-video': { unet: writeUnet } },
});
