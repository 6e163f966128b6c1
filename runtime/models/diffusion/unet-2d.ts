import * as z from 'zod';
import { defineFamily } from '../family.js';
import { activation } from '../layers/activation.js';
import { convolution2d } from '../layers/convolution.js';
import { groupNorm } from '../layers/group-norm.js';
import { residualBlock, type TimeStates } from '../layers/resnet-block.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { size } from '../config-fields.js';
import { OLDER_NAMES, imageAttention } from './attention.js';
import { blockSizes, channels, groups, levels, listOf, unetConfig } from './config.js';
import { timeLayers, timeSines } from './time.js';
import { type LayerOf, writeUShape } from './u-shape.js';

const config = z.object({
  ...unetConfig,
  in_channels: channels.default(3),
  out_channels: channels.default(3),
  down_block_types: z
    .array(z.enum(['DownBlock2D', 'AttnDownBlock2D', 'UNetResDownBlock2D', 'UNetResAttnDownBlock2D']))
    .default(['DownBlock2D', ...Array<'AttnDownBlock2D'>(3).fill('AttnDownBlock2D')]),
  mid_block_type: z.enum(['UNetMidBlock2D']).nullable().default('UNetMidBlock2D'),
  up_block_types: z
    .array(z.enum(['UpBlock2D', 'AttnUpBlock2D', 'UNetResUpBlock2D', 'UNetResAttnUpBlock2D']))
    .default([...Array<'AttnUpBlock2D'>(3).fill('AttnUpBlock2D'), 'UpBlock2D']),
  block_out_channels: levels.default([224, 448, 672, 896]),
  downsample_type: z.literal('conv').default('conv'),
  upsample_type: z.literal('conv').default('conv'),
  attention_head_dim: size.nullable().default(8),
  attn_norm_num_groups: groups.nullish(),
  add_attention: z.boolean().default(true),
});
type Config = z.output<typeof config>;

function writeUnet(g: GraphWriter, c: Config): void {
  const widths = c.block_out_channels;
  const first = widths[0]!;
  const given = g.input('sample', 'float32', ['rows', c.in_channels, 'height', 'width']);
  const sample = c.center_input_sample
    ? g.node('Sub', [g.node('Mul', [given, g.scalar(2)]), g.scalar(1)])
    : given;
  const block = { ...blockSizes(c), time: timeOf(g, c) };
  const attends = levelsWithAttention(c);
  const x = writeUShape(
    g,
    convolution2d(g, sample, 'conv_in', { from: c.in_channels, to: first, kernel: 3 }),
    {
      ...{ widths, padding: c.downsample_padding },
      layers: listOf('layers_per_block', c.layers_per_block, widths.length),
      layer(_, before, { at, from, to, level, way }: LayerOf) {
        const found = residualBlock(g, before, at('resnets'), { ...block, from, to });
        if (!attends[way][level]) return found;
        return imageAttention(g, found, at('attentions'), {
          ...attentionSize(c, to),
          groups: block.groups,
        });
      },
      middle: (_, before) => writeMiddle(g, before, c, block.time),
    },
  );
  const normed = groupNorm(g, x, 'conv_norm_out', { width: first, ...blockSizes(c) });
  const size = { from: first, to: c.out_channels, kernel: 3 };
  const noise = convolution2d(g, activation(g, normed, 'silu'), 'conv_out', size);
  g.output('out_sample', noise, 'float32', ['rows', c.out_channels, 'height', 'width']);
}

function timeOf(g: GraphWriter, c: Config): TimeStates {
  const from = c.block_out_channels[0]!;
  const width = c.time_embedding_dim ?? 4 * from;
  const sines = timeSines(g, g.input('timestep', 'float32', ['steps']), {
    ...{ width: from, flipped: c.flip_sin_to_cos, shift: c.freq_shift },
  });
  const states = timeLayers(g, sines, 'time_embedding', { from, to: width, act: 'silu' });
  return { states, width, scales: c.resnet_time_scale_shift === 'scale_shift' };
}

function levelsWithAttention(c: Config): Record<LayerOf['way'], boolean[]> {
  const has = (name: string, kinds: readonly string[]) =>
    listOf(name, kinds, c.block_out_channels.length).map((kind) => kind.includes('Attn'));
  return { down: has('down_block_types', c.down_block_types), up: has('up_block_types', c.up_block_types) };
}

const attentionSize = (c: Config, width: number) => ({
  ...{ width, headWidth: c.attention_head_dim ?? width, epsilon: c.norm_eps },
});

function writeMiddle(g: GraphWriter, x: Value, c: Config, time: TimeStates): Value {
  if (c.mid_block_type === null) return x;
  const width = c.block_out_channels.at(-1)!;
  const divisor = c.mid_block_scale_factor;
  const block = { ...blockSizes(c), time, from: width, to: width, divisor };
  // Without groups of its own, and with a time that scales, attention has no norm.
  const groups = c.attn_norm_num_groups ?? (time.scales ? undefined : c.norm_num_groups);
  const first = residualBlock(g, x, 'mid_block.resnets.0', block);
  const size = { ...attentionSize(c, width), groups, divisor };
  const found = c.add_attention ? imageAttention(g, first, 'mid_block.attentions.0', size) : first;
  return residualBlock(g, found, 'mid_block.resnets.1', block);
}

/** DDPM's: images alone. unet_2d.py of diffusers */
export const unet2d = defineFamily({
  modelTypes: ['UNet2DModel'],
  config,
  prefixes: [],
  older: OLDER_NAMES,
  heads: { 'unconditional-image': { unet: writeUnet } },
});
