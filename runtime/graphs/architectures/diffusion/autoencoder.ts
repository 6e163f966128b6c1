import * as z from 'zod';
import { defineArchitecture } from '../../architecture.js';
import { activation } from '../../blocks/activation.js';
import { convolution2d } from '../../blocks/convolution.js';
import { groupNorm } from '../../blocks/group-norm.js';
import { matMulTransposed } from '../../blocks/linear.js';
import { gridOf, pictureOf, tokensOf } from '../../blocks/pictures.js';
import { residualBlock } from '../../blocks/residual-block.js';
import type { GraphWriter, Value } from '../../graph-writer.js';
import { size } from '../config.js';
import { OLDER_NAMES, pictureAttention } from './attention.js';
import { act, channels, groups, levels, listOf } from './config.js';
import { grown } from './u-shape.js';

/** Decoders of autoencoders, which make pictures of latents. */

const decoderConfig = {
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

/** @param x float32 [rows, from, height, width] @returns a picture, larger by two for each level but one */
function decoded(g: GraphWriter, x: Value, c: DecoderConfig, from: number): Value {
  const widths = c.block_out_channels.toReversed();
  const last = widths.length - 1;
  const block = { groups: c.norm_num_groups, epsilon: EPSILON, act: c.act_fn };
  const attend = (value: Value, name: string, width: number) =>
    pictureAttention(g, value, name, { width, headWidth: width, ...block });
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

const latents = (g: GraphWriter, count: number): Value =>
  g.input('latent_sample', 'float32', ['rows', count, 'height', 'width']);

const giveSample = (g: GraphWriter, sample: Value, { out_channels: count }: DecoderConfig): void =>
  g.output('sample', sample, 'float32', ['rows', count, 'picture_height', 'picture_width']);

const klConfig = z.object({
  ...decoderConfig,
  latent_channels: channels.default(4),
  use_post_quant_conv: z.boolean().default(true),
});

function writeKl(g: GraphWriter, c: z.output<typeof klConfig>): void {
  const width = c.latent_channels;
  const given = latents(g, width);
  const square = { from: width, to: width, kernel: 1 };
  const read = c.use_post_quant_conv ? convolution2d(g, given, 'post_quant_conv', square) : given;
  giveSample(g, decoded(g, read, c, width), c);
}

const klRoles = { vae_decoder: writeKl };

/** autoencoder_kl.py of diffusers */
export const autoencoderKl = defineArchitecture({
  modelTypes: ['AutoencoderKL'],
  config: klConfig,
  prefixes: [],
  older: OLDER_NAMES,
  heads: { 'text-to-image': klRoles, 'text-to-video': klRoles },
});

const vqConfig = z.object({
  ...decoderConfig,
  latent_channels: channels.default(3),
  num_vq_embeddings: size.default(256),
  vq_embed_dim: channels.nullish(),
  norm_type: z.literal('group').default('group'),
});

/** The nearest vector of the code book for each place of float32 [rows, width, height, width of the picture]. */
function quantized(g: GraphWriter, x: Value, { rows, width }: { rows: number; width: number }): Value {
  const table = g.weight('quantize.embedding.weight', [rows, width]);
  const tokens = tokensOf(g, x);
  const squares = g.node('ReduceSum', [g.node('Mul', [table, table]), g.ints([1])], { keepdims: 0 });
  // |x - e|² without |x|², which is the same for all.
  const distances = g.node('Add', [matMulTransposed(g, tokens, table, -2), squares]);
  const nearest = g.node('ArgMin', [distances], { axis: 2, keepdims: 0 });
  return pictureOf(g, g.node('Gather', [table, nearest]), gridOf(g, x));
}

function writeVq(g: GraphWriter, c: z.output<typeof vqConfig>): void {
  const width = c.vq_embed_dim ?? c.latent_channels;
  const found = quantized(g, latents(g, width), { rows: c.num_vq_embeddings, width });
  const read = convolution2d(g, found, 'post_quant_conv', { from: width, to: c.latent_channels, kernel: 1 });
  giveSample(g, decoded(g, read, c, c.latent_channels), c);
}

/** Latents become those of a code book first. vq_model.py of diffusers */
export const vqModel = defineArchitecture({
  modelTypes: ['VQModel'],
  config: vqConfig,
  prefixes: [],
  older: OLDER_NAMES,
  heads: { 'unconditional-image': { vqvae_decoder: writeVq } },
});
