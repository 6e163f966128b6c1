import * as z from 'zod';
import { defineFamily } from '../family.js';
import { activation } from '../layers/activation.js';
import { convolution2d } from '../layers/convolution.js';
import { groupNorm } from '../layers/group-norm.js';
import { linear } from '../layers/linear.js';
import { residualBlock, type TimeStates } from '../layers/resnet-block.js';
import { GraphError } from '../writer/errors.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { size } from '../config-fields.js';
import { imageTransformer, type Source } from './attention.js';
import { blockSizes, channels, levels, listOf, perLevel, unetConfig } from './config.js';
import { timeLayers, timeSines } from './time.js';
import { type LayerOf, writeUShape } from './u-shape.js';

const transformers = z.int().min(0).max(64);
const heads = z.int().min(1).max(1024);
/** An odd edge, so that images keep their size. */
const kernel = z
  .int()
  .min(1)
  .max(15)
  .refine((edge) => edge % 2 === 1, 'even kernels are not known');

const config = z.object({
  ...unetConfig,
  in_channels: channels.default(4),
  out_channels: channels.default(4),
  down_block_types: z
    .array(z.enum(['CrossAttnDownBlock2D', 'DownBlock2D']))
    .default([...Array<'CrossAttnDownBlock2D'>(3).fill('CrossAttnDownBlock2D'), 'DownBlock2D']),
  mid_block_type: z.literal('UNetMidBlock2DCrossAttn').nullable().default('UNetMidBlock2DCrossAttn'),
  up_block_types: z
    .array(z.enum(['CrossAttnUpBlock2D', 'UpBlock2D']))
    .default(['UpBlock2D', ...Array<'CrossAttnUpBlock2D'>(3).fill('CrossAttnUpBlock2D')]),
  only_cross_attention: perLevel(z.boolean()).default(false),
  block_out_channels: levels.default([320, 640, 1280, 1280]),
  cross_attention_dim: perLevel(size).default(1280),
  transformer_layers_per_block: perLevel(z.union([transformers, z.array(transformers).max(64)])).default(1),
  reverse_transformer_layers_per_block: z
    .array(z.union([transformers, z.array(transformers).max(64)]))
    .nullish(),
  // The name is wrong in all configurations that there are: it counts heads.
  attention_head_dim: perLevel(heads).default(8),
  num_attention_heads: z.null().optional(),
  dual_cross_attention: z.literal(false).default(false),
  use_linear_projection: z.boolean().default(false),
  encoder_hid_dim_type: z.null().optional(),
  encoder_hid_dim: z.null().optional(),
  addition_embed_type: z.literal('text_time').nullish(),
  addition_time_embed_dim: size.nullish(),
  projection_class_embeddings_input_dim: size.nullish(),
  time_embedding_act_fn: z.string().nullish(),
  timestep_post_act: z.string().nullish(),
  time_cond_proj_dim: size.nullish(),
  conv_in_kernel: kernel.default(3),
  conv_out_kernel: kernel.default(3),
  attention_type: z.literal('default').default('default'),
  class_embeddings_concat: z.literal(false).default(false),
});
type Config = z.output<typeof config>;

function writeUnet(g: GraphWriter, c: Config): void {
  const widths = c.block_out_channels;
  const [first, last] = [widths[0]!, widths.at(-1)!];
  const given = g.input('sample', 'float32', ['rows', c.in_channels, 'height', 'width']);
  const time: TimeStates = {
    ...{ states: timeOf(g, c), width: timeWidth(c), scales: c.resnet_time_scale_shift === 'scale_shift' },
  };
  const source = sourceOf(g, c);
  const sample = c.center_input_sample
    ? g.node('Sub', [g.node('Mul', [given, g.scalar(2)]), g.scalar(1)])
    : given;
  const block = { ...blockSizes(c), time };
  const attend = attentionOf(c, source);
  const x = writeUShape(
    g,
    convolution2d(g, sample, 'conv_in', { from: c.in_channels, to: first, kernel: c.conv_in_kernel }),
    {
      ...{ widths, padding: c.downsample_padding },
      layers: listOf('layers_per_block', c.layers_per_block, widths.length),
      layer: (_, before, of) => {
        const found = residualBlock(g, before, of.at('resnets'), { ...block, from: of.from, to: of.to });
        return attend.level(g, found, of);
      },
      middle(_, before) {
        if (c.mid_block_type === null) return before;
        const size = { ...block, from: last, to: last, divisor: c.mid_block_scale_factor };
        const found = attend.middle(g, residualBlock(g, before, 'mid_block.resnets.0', size));
        return residualBlock(g, found, 'mid_block.resnets.1', size);
      },
    },
  );
  const normed = groupNorm(g, x, 'conv_norm_out', { width: first, ...blockSizes(c) });
  const noise = convolution2d(g, activation(g, normed, c.act_fn), 'conv_out', {
    ...{ from: first, to: c.out_channels, kernel: c.conv_out_kernel },
  });
  g.output('out_sample', noise, 'float32', ['rows', c.out_channels, 'height', 'width']);
}

/** Prompts, as every level reads them. */
function sourceOf(g: GraphWriter, c: Config): Source {
  const all = listOf('cross_attention_dim', c.cross_attention_dim, c.block_out_channels.length);
  const width = all[0]!;
  if (all.some((one) => one !== width))
    throw new GraphError(`config.json: cross_attention_dim differs between levels: ${all.join(', ')}`);
  return { states: g.input('encoder_hidden_states', 'float32', ['rows', 'tokens', width]), width };
}

const timeWidth = (c: Config): number => c.time_embedding_dim ?? 4 * c.block_out_channels[0]!;

/** What the network knows of the time, of the images' sizes and of the prompt as a whole. */
function timeOf(g: GraphWriter, c: Config): Value {
  const from = c.block_out_channels[0]!;
  const habits = { flipped: c.flip_sin_to_cos, shift: c.freq_shift };
  const sines = timeSines(g, g.input('timestep', 'float32', ['steps']), { width: from, ...habits });
  const size = { from, to: timeWidth(c), act: c.act_fn };
  const layers = timeLayers(g, guided(g, sines, c), 'time_embedding', size);
  const time = c.timestep_post_act == null ? layers : activation(g, layers, c.timestep_post_act);
  const all = c.addition_embed_type == null ? time : g.node('Add', [time, additions(g, c)]);
  return c.time_embedding_act_fn == null ? all : activation(g, all, c.time_embedding_act_fn);
}

/** Networks that were trained to be guided by a number read it beside the time. */
function guided(g: GraphWriter, sines: Value, c: Config): Value {
  const from = c.time_cond_proj_dim;
  if (from == null) return sines;
  const given = g.input('timestep_cond', 'float32', ['rows', from]);
  const to = c.block_out_channels[0]!;
  return g.node('Add', [sines, linear(g, given, 'time_embedding.cond_proj', { from, to, bias: false })]);
}

/** SDXL's: the prompt as one vector, and sizes and crops of the image. */
function additions(g: GraphWriter, c: Config): Value {
  const { addition_time_embed_dim: width, projection_class_embeddings_input_dim: from } = c;
  if (width == null || from == null)
    throw new GraphError(
      'config.json: addition_embed_type wants addition_time_embed_dim and projection_class_embeddings_input_dim',
    );
  const texts = g.input('text_embeds', 'float32', ['rows', 'text_width']);
  const numbers = g.input('time_ids', 'float32', ['rows', 'numbers']);
  const sines = timeSines(g, numbers, { width, flipped: c.flip_sin_to_cos, shift: c.freq_shift });
  const both = g.node('Concat', [texts, g.node('Reshape', [sines, g.ints([0, -1])])], { axis: -1 });
  return timeLayers(g, both, 'add_embedding', { from, to: timeWidth(c), act: 'silu' });
}

/** What comes behind the residual blocks of a level, and between those of the middle. */
function attentionOf(c: Config, source: Source) {
  const count = c.block_out_channels.length;
  const way = <T>(name: string, list: T | readonly T[]) => {
    const down = listOf(name, list, count);
    return { down, up: down.toReversed() };
  };
  const kinds = {
    down: listOf('down_block_types', c.down_block_types, count).map((kind) => kind.startsWith('CrossAttn')),
    up: listOf('up_block_types', c.up_block_types, count).map((kind) => kind.startsWith('CrossAttn')),
  };
  const headCounts = way('attention_head_dim', c.attention_head_dim);
  const onlySource = way('only_cross_attention', c.only_cross_attention);
  const depths = depthsOf(c, count);
  const common = { groups: c.norm_num_groups, isLinear: c.use_linear_projection, source };
  return {
    level(g: GraphWriter, x: Value, { at, to, level, way }: LayerOf): Value {
      if (!kinds[way][level]) return x;
      const name = at('attentions');
      return imageTransformer(g, x, name, {
        ...{ ...common, width: to, heads: headCounts[way][level]! },
        layers: depthOf(depths[way][level]!, Number(name.split('.').at(-1))),
        onlySource: onlySource[way][level]!,
      });
    },
    middle: (g: GraphWriter, x: Value): Value =>
      imageTransformer(g, x, 'mid_block.attentions.0', {
        ...{ ...common, width: c.block_out_channels.at(-1)!, heads: headCounts.down.at(-1)! },
        layers: depthOf(depths.down.at(-1)!, 0),
      }),
  };
}

type Depth = number | readonly number[];

/** Layers of each transformer: as many in all of a level, or for each of them. */
function depthsOf(c: Config, count: number): { down: readonly Depth[]; up: readonly Depth[] } {
  const name = 'transformer_layers_per_block';
  const down = listOf<Depth>(name, c[name], count);
  const own = c.reverse_transformer_layers_per_block;
  if (own == null && down.some((depth) => typeof depth !== 'number'))
    throw new GraphError(`config.json: ${name} of each layer wants reverse_${name}`);
  return { down, up: own == null ? down.toReversed() : listOf<Depth>(`reverse_${name}`, own, count) };
}

function depthOf(depth: Depth, layer: number): number {
  const found = typeof depth === 'number' ? depth : depth[layer];
  if (found !== undefined) return found;
  throw new GraphError(`config.json: transformer_layers_per_block has none for layer ${layer}`);
}

const roles = { unet: writeUnet };

/** Stable Diffusion's: images and prompts. unet_2d_condition.py of diffusers */
export const unet2dCondition = defineFamily({
  modelTypes: ['UNet2DConditionModel'],
  limits: [
    'Safety checkers are not run: what Python would blacken is answered.',
    '`clip_skip`, `prompt_2`, `original_size`, `timesteps`, `sigmas`, `num_images_per_prompt` and adapters are unknown parameters.',
    'Blocks that are enlarged by `resnet` are refused.',
  ],
  config,
  prefixes: [],
  heads: { 'text-to-image': roles },
});
