import { attention } from '../../layers/attention.js';
import { convolution } from '../../layers/convolution.js';
import { linear } from '../../layers/linear.js';
import { channelsFirst, channelsLast, layerNorm } from '../../layers/norm.js';
import { type Edges, imageInput, resize } from '../../layers/patch-embed.js';
import { splitRows } from '../../layers/fused-projections.js';
import { fromWindows, intoWindows, paddedGrid } from '../../layers/window-partition.js';
import { headWidth } from '../../layers/head-sizes.js';
import { GraphError } from '../../writer/errors.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import type { HieraConfig } from './config.js';
import { layersBetween } from '../sam/mask-decoder.js';

const BASE = 'vision_encoder.backbone.';

/** An image of tokens: float32 [rows, lines, columns, width]. */
export interface Cells {
  x: Value;
  grid: Edges;
  width: number;
}

interface BlockOf {
  c: HieraConfig;
  at: (name: string) => string;
  to: number;
  heads: number;
  /** Tokens along an edge of a window; 0 where all see each other. */
  window: number;
  /** True where only the largest of some neighbours go on. */
  pools: boolean;
}

/** The largest of neighbours: float32 [rows, lines, columns, width]. */
function pooled(g: GraphWriter, x: Value, stride: Edges): Value {
  const attributes = { kernel_shape: stride, strides: stride };
  return channelsLast(g, g.node('MaxPool', [channelsFirst(g, x)], attributes));
}

const smaller = ([lines, columns]: Edges, [down, across]: Edges): Edges => [
  Math.floor(lines / down),
  Math.floor(columns / across),
];

/** @param x float32 [rows · windows, tokens, width] of windows of `grid` @returns as many tokens as queries are left */
function attended(
  g: GraphWriter,
  x: Value,
  grid: Edges,
  { c, at, to, heads, pools, from }: BlockOf & { from: number },
): Value {
  const all = linear(g, x, at('attn.qkv'), { from, to: 3 * to });
  const projected = splitRows(g, all, { heads, keyHeads: heads, width: headWidth(to, heads) });
  const few = () => {
    const image = g.node('Reshape', [projected.query, g.ints([0, ...grid, to])]);
    return g.node('Reshape', [pooled(g, image, c.query_stride), g.ints([0, -1, to])]);
  };
  const query = pools ? few() : projected.query;
  const found = attention(g, { ...projected, query }, { heads, width: to });
  return linear(g, found, at('attn.proj'), { from: to, to });
}

/** Attention within windows or among all, of which fewer tokens may come out: float32 [rows, lines, columns, width]. */
function seen(g: GraphWriter, x: Value, cells: Cells, of: BlockOf): Value {
  const { c, window: edge, pools, to } = of;
  const { grid, width: from } = cells;
  const after = pools ? smaller(grid, c.query_stride) : grid;
  if (edge === 0) {
    const flat = g.node('Reshape', [x, g.ints([0, -1, from])]);
    return g.node('Reshape', [attended(g, flat, grid, { ...of, from }), g.ints([0, ...after, to])]);
  }
  const padded = paddedGrid(g, x, g.ints(grid), edge);
  const windows = intoWindows(g, padded.x, padded.grid, { edge, width: from });
  const found = attended(g, windows, [edge, edge], { ...of, from });
  const less = pools ? Math.floor(edge / c.query_stride[0]) : edge;
  const whole = after.map((size) => Math.ceil(size / less) * less);
  const together = fromWindows(g, found, g.ints(whole), { edge: less, width: to });
  return g.node('Slice', [together, g.ints([0, 0]), g.ints(after), g.ints([1, 2])]);
}

function block(g: GraphWriter, cells: Cells, of: BlockOf): Cells {
  const { c, at, to, pools } = of;
  const { x, width } = cells;
  const norm = (value: Value, name: string, size: number) =>
    layerNorm(g, value, at(name), { width: size, epsilon: c.layer_norm_eps });
  const read = norm(x, 'layer_norm1', width);
  const projected = () => linear(g, read, at('proj'), { from: width, to });
  if (pools && width === to)
    throw new GraphError('config.json: a stage that makes images smaller makes them wider, too');
  const kept = width === to ? x : pools ? pooled(g, projected(), c.query_stride) : projected();
  const middle = g.node('Add', [kept, seen(g, read, cells, of)]);
  const size = { from: to, inner: Math.trunc(to * c.mlp_ratio), to, depth: 2, act: c.hidden_act };
  const added = layersBetween(g, norm(middle, 'layer_norm2', to), at('mlp'), size);
  const grid = pools ? smaller(cells.grid, c.query_stride) : cells.grid;
  return { x: g.node('Add', [middle, added]), grid, width: to };
}

/** Patches with their positions, which are those of a window besides those of the image. */
function embedded(g: GraphWriter, c: HieraConfig, edge: number): Cells {
  const { hidden_size: width, patch_kernel_size: kernel, patch_stride: stride, patch_padding: padding } = c;
  const pixels = imageInput(g, c.num_channels, [edge, edge]);
  const cut = convolution(g, pixels, `${BASE}patch_embed.projection`, {
    ...{ from: c.num_channels, to: width, kernel, stride, padding },
  });
  const grid = [0, 1].map(
    (axis) => Math.floor((edge + 2 * padding[axis]! - kernel[axis]!) / stride[axis]!) + 1,
  ) as [number, number];
  const window = c.window_size_per_stage[0]!;
  if (window === 0 || grid.some((size) => size % window !== 0))
    throw new GraphError('config.json: the image is no whole number of windows of the first stage');
  const table = g.weight(`${BASE}pos_embed`, [1, width, ...c.window_positional_embedding_background_size]);
  const wide = resize(g, table, g.ints([1, width, ...grid]), { mode: 'cubic' });
  const own = g.weight(`${BASE}pos_embed_window`, [1, width, window, window]);
  const tiled = g.node('Tile', [own, g.ints([1, 1, ...grid.map((size) => size / window)])]);
  const x = channelsLast(g, g.node('Add', [cut, g.node('Add', [wide, tiled])]));
  return { x, grid, width };
}

/** What each stage of Hiera gives, the fine ones first. @param edge of the image, which is declared */
export function hieraStages(g: GraphWriter, c: HieraConfig, edge: number): Cells[] {
  let cells = embedded(g, c, edge);
  let count = 0;
  return c.blocks_per_stage.map((blocks, stage) => {
    for (let i = 0; i < blocks; i++) {
      const isFirst = stage > 0 && i === 0;
      const number = count++;
      const own = c.window_size_per_stage[isFirst ? stage - 1 : stage]!;
      cells = block(g, cells, {
        ...{ c, at: (name) => `${BASE}blocks.${number}.${name}`, to: c.embed_dim_per_stage[stage]! },
        heads: c.num_attention_heads_per_stage[stage]!,
        window: c.global_attention_blocks.includes(number) ? 0 : own,
        pools: isFirst && stage <= c.num_query_pool_stages,
      });
    }
    return cells;
  });
}
