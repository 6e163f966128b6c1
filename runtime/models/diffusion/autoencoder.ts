import * as z from 'zod';
import { activation } from '../layers/activation.js';
import { convolution2d } from '../layers/convolution.js';
import { groupNorm } from '../layers/group-norm.js';
import { gridOf } from '../layers/patch-embed.js';
import { residualBlock } from '../layers/resnet-block.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { imageAttention } from './attention.js';
import { act, channels, groups, levels, listOf } from './config.js';
import { grown } from './u-shape.js';

/** Decoders of autoencoders, which make images of latents. */

export const decoderConfig = {
  out_channels: channels.default(3),
  up_block_types: z.array(z.enum(['UpDecoderBlock2D', 'AttnUpDecoderBlock2D'])).default(['UpDecoderBlock2D']),
  block_out_channels: levels.default([64]),
  layers_per_block: z.int().min(1).max(64).default(1),
  act_fn: act,
  norm_num_groups: groups.default(32),
  mid_block_add_attention: z.boolean().default(true),
};

type DecoderConfig = z.output<z.ZodObject<typeof decoderConfig>>;

const EPSILON = 1e-6;

/** @param x float32 [rows, from, height, width] @returns an image, larger by two for each level but one */
export function decoded(g: GraphWriter, x: Value, c: DecoderConfig, from: number): Value {
  const widths = c.block_out_channels.toReversed();
  const last = widths.length - 1;
  const block = { groups: c.norm_num_groups, epsilon: EPSILON, act: c.act_fn };
  const attend = (value: Value, name: string, width: number) =>
    imageAttention(g, value, name, { width, headWidth: width, ...block });
  const at = (name: string) => `decoder.${name}`;
  let width = widths[0]!;
  const square = { ...block, from: width, to: width };
  const start = convolution2d(g, x, at('conv_in'), { from, to: width, kernel: 3 });
  const first = residualBlock(g, start, at('mid_block.resnets.0'), square);
  const seen = c.mid_block_add_attention ? attend(first, at('mid_block.attentions.0'), width) : first;
  let found = residualBlock(g, seen, at('mid_block.resnets.1'), square);
  const kinds = listOf('up_block_types', c.up_block_types, widths.length);
  widths.forEach((to, level) => {
    const name = at(`up_blocks.${level}`);
    for (let i = 0; i <= c.layers_per_block; i++) {
      found = residualBlock(g, found, `${name}.resnets.${i}`, { ...block, from: width, to });
      if (kinds[level]!.startsWith('Attn')) found = attend(found, `${name}.attentions.${i}`, to);
      width = to;
    }
    if (level === last) return;
    const grid = g.node('Mul', [gridOf(g, found), g.ints([2], [])]);
    found = grown(g, found, `${name}.upsamplers.0.conv`, { width, grid });
  });
  const normed = groupNorm(g, found, at('conv_norm_out'), { width, ...block });
  const size = { from: width, to: c.out_channels, kernel: 3 };
  return convolution2d(g, activation(g, normed, 'silu'), at('conv_out'), size);
}

export const latents = (g: GraphWriter, count: number): Value =>
  g.input('latent_sample', 'float32', ['rows', count, 'height', 'width']);

export const giveSample = (g: GraphWriter, sample: Value, { out_channels: count }: DecoderConfig): void =>
  g.output('sample', sample, 'float32', ['rows', count, 'image_height', 'image_width']);
