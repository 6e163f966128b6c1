import * as z from 'zod';
import { activation } from '../../layers/activation.js';
import { attention } from '../../layers/attention.js';
import { convolution2d } from '../../layers/convolution.js';
import { groupWidth } from '../../layers/head-sizes.js';
import { linear, matMulTransposed } from '../../layers/linear.js';
import { layerNorm } from '../../layers/norm.js';
import { gridOf, imageInput, imageOf, tokensOf } from '../../layers/patch-embed.js';
import { splitRows } from '../../layers/fused-projections.js';
import { fromWindows, intoWindows, paddedGrid } from '../../layers/window-partition.js';
import { GraphError } from '../../writer/errors.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import { ELEMENTS } from '../../writer/tensors.js';
import { size } from '../../config-fields.js';
import { channels, stages } from '../../bases/vision/vit-config.js';

const counts = z.array(z.int().min(0).max(1024)).min(1).max(64);

export const florenceImages = z.object({
  in_channels: channels,
  depths: counts.default([1, 1, 9, 1]),
  patch_size: stages.default([7, 3, 3, 3]),
  patch_stride: stages.default([4, 2, 2, 2]),
  patch_padding: counts.default([3, 1, 1, 1]),
  patch_prenorm: z.array(z.boolean()).default([false, true, true, true]),
  embed_dim: stages.default([128, 256, 512, 1024]),
  num_heads: stages.default([4, 8, 16, 32]),
  num_groups: stages.default([4, 8, 16, 32]),
  window_size: size.default(12),
  mlp_ratio: z.number().positive().max(1024).default(4),
  qkv_bias: z.boolean().default(true),
  activation_function: z.string().default('gelu'),
  projection_dim: size.default(1024),
  max_temporal_embeddings: size.default(100),
  max_position_embeddings: size.default(50),
});
type Config = z.output<typeof florenceImages>;

const EPSILON = 1e-5;

interface Stage {
  c: Config;
  stage: number;
  width: number;
}

/** Channels over lines and columns, after each stage has narrowed them: float32 [rows, width, lines, columns]. */
export function florenceMap(g: GraphWriter, c: Config): Value {
  const lists = [c.depths, c.patch_size, c.patch_stride, c.patch_padding, c.patch_prenorm];
  if ([...lists, c.num_heads, c.num_groups].some(({ length }) => length < c.embed_dim.length))
    throw new GraphError('config.json: vision_config has not as many numbers as stages');
  let x = imageInput(g, c.in_channels);
  c.embed_dim.forEach((width, stage) => {
    x = narrowed(g, x, { c, stage, width });
    for (let i = 0; i < c.depths[stage]!; i++) {
      const at = (name: string) => `vision_tower.blocks.${stage}.${i}.${name}`;
      for (const kind of ['spatial', 'channel'] as const)
        x = writeBlock(g, x, { c, stage, width, kind, at: (name) => at(`${kind}_block.${name}`) });
    }
  });
  return x;
}

function narrowed(g: GraphWriter, x: Value, { c, stage, width }: Stage): Value {
  const from = stage === 0 ? c.in_channels : c.embed_dim[stage - 1]!;
  const at = (name: string) => `vision_tower.convs.${stage}.${name}`;
  const first = c.patch_prenorm[stage]!;
  const normed = (map: Value, channelsOf: number) =>
    imageOf(g, norm(g, tokensOf(g, map), at('norm'), channelsOf), gridOf(g, map));
  const found = convolution2d(g, first ? normed(x, from) : x, at('conv'), {
    ...{ from, to: width, kernel: c.patch_size[stage]! },
    ...{ stride: c.patch_stride[stage]!, padding: c.patch_padding[stage]! },
  });
  return first ? found : normed(found, width);
}

const norm = (g: GraphWriter, x: Value, name: string, width: number): Value =>
  layerNorm(g, x, name, { width, epsilon: EPSILON });

interface Block extends Stage {
  kind: 'spatial' | 'channel';
  at(name: string): string;
}

/** Attention among tokens of a window, or among channels; and a feed-forward layer. Neighbours are mixed before each. */
function writeBlock(g: GraphWriter, x: Value, block: Block): Value {
  const { width, at, kind } = block;
  const grid = gridOf(g, x);
  const mixed = (map: Value, name: string) => {
    const near = convolution2d(g, map, at(name), { from: width, to: width, kernel: 3, groups: width });
    return tokensOf(g, g.node('Add', [near, map]));
  };
  const first = mixed(x, 'conv1');
  const read = norm(g, first, at('norm1'), width);
  const attended = kind === 'spatial' ? amongWindows(g, read, grid, block) : amongChannels(g, read, block);
  const middle = g.node('Add', [first, attended]);
  const second = mixed(imageOf(g, middle, grid), 'conv2');
  const fed = feedForward(g, norm(g, second, at('norm2'), width), block);
  return imageOf(g, g.node('Add', [second, fed]), grid);
}

function feedForward(g: GraphWriter, x: Value, { c, width, at }: Block): Value {
  const inner = Math.trunc(width * c.mlp_ratio);
  const wide = activation(g, linear(g, x, at('ffn.fc1'), { from: width, to: inner }), c.activation_function);
  return linear(g, wide, at('ffn.fc2'), { from: inner, to: width });
}

const projected = (g: GraphWriter, x: Value, { c, width }: Block, name: string) =>
  splitRows(g, linear(g, x, name, { from: width, to: 3 * width, bias: c.qkv_bias }), {
    ...{ heads: 1, keyHeads: 1, width },
  });

/** Zeros that fill windows up are tokens like others. */
function amongWindows(g: GraphWriter, x: Value, grid: Value, block: Block): Value {
  const { c, stage, width, at } = block;
  const cut = { edge: c.window_size, width };
  const lines = g.node('Reshape', [x, g.node('Concat', [g.ints([-1]), grid, g.ints([width])], { axis: 0 })]);
  const padded = paddedGrid(g, lines, grid, c.window_size);
  const windows = intoWindows(g, padded.x, padded.grid, cut);
  const seen = projected(g, windows, block, at('window_attn.qkv'));
  const found = attention(g, seen, { heads: c.num_heads[stage]!, width });
  const output = linear(g, found, at('window_attn.proj'), { from: width, to: width });
  const whole = fromWindows(g, output, padded.grid, cut);
  const kept = g.node('Slice', [whole, g.ints([0, 0]), grid, g.ints([1, 2])]);
  return g.node('Reshape', [kept, g.node('Shape', [x])]);
}

/** softmax(q·kᵀ / sqrt(tokens))·v, where the channels of a group are the ones that see each other. */
function amongChannels(g: GraphWriter, x: Value, block: Block): Value {
  const { c, stage, width, at } = block;
  const groups = c.num_groups[stage]!;
  const parts = projected(g, x, block, at('channel_attn.qkv'));
  const [query, key, value] = [parts.query, parts.key, parts.value].map((part) => {
    const split = g.node('Reshape', [part, g.ints([0, 0, groups, groupWidth(width, groups)])]);
    return g.node('Transpose', [split], { perm: [0, 2, 3, 1] });
  }) as [Value, Value, Value];
  const tokens = g.node('Cast', [g.node('Shape', [x], { start: 1, end: 2 })], { to: ELEMENTS.float32 });
  const scores = g.node('Div', [matMulTransposed(g, query, key), g.node('Sqrt', [tokens])]);
  const found = g.node('MatMul', [g.node('Softmax', [scores], { axis: -1 }), value]);
  const turned = g.node('Transpose', [found], { perm: [0, 3, 1, 2] });
  const together = g.node('Reshape', [turned, g.ints([0, 0, width])]);
  return linear(g, together, at('channel_attn.proj'), { from: width, to: width });
}

/** The mean of all cells, and each cell, at their positions: float32 [rows, 1 + cells, projection_dim]. */
export function florenceFeatures(g: GraphWriter, map: Value, c: Config): Value {
  const at = (name: string) => `multi_modal_projector.${name}`;
  const width = c.embed_dim.at(-1)!;
  const placed = tokensOf(g, g.node('Add', [map, cellPositions(g, gridOf(g, map), c)]));
  const times = g.weight(at('visual_temporal_embed.pos_idx_to_embed'), [c.max_temporal_embeddings, width]);
  const cells = g.node('Add', [placed, g.node('Gather', [times, g.ints([0], [])])]);
  const mean = g.node('ReduceMean', [cells, g.ints([1])], { keepdims: 1 });
  const all = g.node('Concat', [mean, cells], { axis: 1 });
  const to = c.projection_dim;
  const features = linear(g, all, at('image_projection'), { from: width, to, bias: false });
  return norm(g, features, at('image_proj_norm'), to);
}

/** float32 [width, lines, columns]: columns first, then lines. */
function cellPositions(g: GraphWriter, grid: Value, c: Config): Value {
  const width = c.embed_dim.at(-1)!;
  const half = Math.floor(width / 2);
  const [lines, columns] = g.nodes('Split', [grid, g.ints([1, 1])], {
    ...{ outputs: 2, attributes: { axis: 0 } },
  }) as [Value, Value];
  const table = (name: string, count: Value, of: number) => {
    const range = g.node('Range', [g.ints([0], []), g.node('Squeeze', [count]), g.ints([1], [])]);
    const rows = g.weight(`multi_modal_projector.image_position_embed.${name}_embeddings.weight`, [
      ...[c.max_position_embeddings, of],
    ]);
    return g.node('Transpose', [g.node('Gather', [rows, range])], { perm: [1, 0] });
  };
  const spread = (x: Value, axis: number, of: number) => {
    const shape = g.node('Concat', [g.ints([of]), lines, columns], { axis: 0 });
    return g.node('Expand', [g.node('Unsqueeze', [x, g.ints([axis])]), shape]);
  };
  const across = spread(table('column', columns, width - half), 1, width - half);
  const down = spread(table('row', lines, half), 2, half);
  return g.node('Concat', [across, down], { axis: 0 });
}
