import { aroundPoints, deformableAttention, type Levels, levelsOf } from '../layers/deformable-attention.js';
import { groupedConvolution } from '../layers/group-norm.js';
import { nearestMask, sinePositions, type SineSettings } from '../layers/position-grid.js';
import { placedParts } from '../layers/detr-layer.js';
import { GraphError } from '../writer/errors.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { ELEMENTS } from '../writer/tensors.js';
import type { Features } from './backbone/index.js';

/** What Deformable DETR and its relatives read of an image: its cells in several sizes, each with its position. */

export interface PlacedLevels extends Levels {
  /** float32 [rows, cells, width] */
  positions: Value;
  /** Cells that are no padding, columns first: float32 [rows, levels, 2]. */
  counts: Value;
  /** Their share of all: float32 [rows, levels, 2]. */
  shares: Value;
}

export interface ProjectionSize {
  /** Of the projections' names. */
  name: string;
  width: number;
  levels: number;
}

/** Images of one width; where the backbone gives fewer than are wanted, coarser ones are made of its last one. */
export function projectedImages(
  g: GraphWriter,
  found: readonly Features[],
  { name, width, levels }: ProjectionSize,
): Value[] {
  if (found.length > levels)
    throw new GraphError('config.json: num_feature_levels is less than what the backbone gives');
  const images: Value[] = [];
  for (let level = 0; level < levels; level++) {
    const given = found[level];
    const behind = images.length > found.length ? { features: images.at(-1)!, width } : found.at(-1)!;
    const { features, width: from } = given ?? behind;
    const size = given ? { kernel: 1 } : { kernel: 3, stride: 2 };
    images.push(groupedConvolution(g, features, `${name}.${level}`, { from, to: width, ...size }));
  }
  return images;
}

/** @param mask of pixels, int64 [rows, height, width]; `name` of the levels' own vectors */
export function placedLevels(
  g: GraphWriter,
  images: readonly Value[],
  { mask, name, width, ...sines }: { mask: Value; name: string; width: number } & SineSettings,
): PlacedLevels {
  const levels = levelsOf(g, images);
  const masks = levels.grids.map((grid) => nearestMask(g, mask, grid));
  const table = g.weight(name, [images.length, width]);
  const positions = masks.map((seen, level) =>
    g.node('Add', [sinePositions(g, seen, width, sines), g.node('Gather', [table, g.ints([level], [])])]),
  );
  const together = (parts: readonly Value[]) => g.node('Concat', parts, { axis: 1 });
  const counts = together(masks.map((seen) => shownCells(g, seen)));
  return {
    ...{ ...levels, positions: together(positions), counts },
    seen: together(masks.map((seen) => g.node('Reshape', [seen, g.ints([0, -1, 1])]))),
    shares: g.node('Div', [counts, gridSizes(g, levels.grids)]),
  };
}

/** Columns and lines that are no padding: float32 [rows, 1, 2] of a mask [rows, lines, columns]. */
function shownCells(g: GraphWriter, mask: Value): Value {
  const first = (axis: number) => g.node('Gather', [mask, g.ints([0], [])], { axis });
  const counts = [1, 2].map((axis) => g.node('ReduceSum', [first(axis), g.ints([1])]));
  return g.node('Unsqueeze', [g.node('Concat', counts, { axis: 1 }), g.ints([1])]);
}

/** Columns and lines: float32 [1, levels, 2]. */
function gridSizes(g: GraphWriter, grids: readonly Value[]): Value {
  const sizes = grids.map((grid) => g.node('Gather', [grid, g.ints([1, 0])]));
  const all = g.node('Cast', [g.node('Concat', sizes, { axis: 0 })], { to: ELEMENTS.float32 });
  return g.node('Reshape', [all, g.ints([1, -1, 2])]);
}

/** Middles of cells in columns and lines, from 0.5 on: float32 [1, cells, 2]. */
function cellMiddles(g: GraphWriter, grid: Value): Value {
  const whole = g.node('Concat', [grid, g.ints([1])], { axis: 0 });
  const numbers = [1, 0].map((axis) => {
    const count = g.node('Gather', [grid, g.ints([axis], [])]);
    const range = g.node('Range', [g.ints([0], []), count, g.ints([1], [])]);
    const middles = g.node('Add', [g.node('Cast', [range], { to: ELEMENTS.float32 }), g.scalar(0.5)]);
    const shaped = g.node('Reshape', [middles, g.ints(axis === 0 ? [-1, 1, 1] : [1, -1, 1])]);
    return g.node('Expand', [shaped, whole]);
  });
  return g.node('Reshape', [g.node('Concat', numbers, { axis: 2 }), g.ints([1, -1, 2])]);
}

/** Middles of cells in parts of an image without padding: float32 [1, cells, 2]. */
export const cellShares = (g: GraphWriter, grid: Value): Value =>
  g.node('Div', [cellMiddles(g, grid), gridSizes(g, [grid])]);

/** Middles of cells in parts of each image without its padding: float32 [rows, cells of a level, 2], level by level. */
export function shownMiddles(
  g: GraphWriter,
  { grids, counts }: Pick<PlacedLevels, 'grids' | 'counts'>,
): Value[] {
  return grids.map((grid, level) => {
    const count = g.node('Slice', [counts, g.ints([level]), g.ints([level + 1]), g.ints([1])]);
    return g.node('Div', [cellMiddles(g, grid), count]);
  });
}

export interface CellLayer {
  name: string;
  width: number;
  heads: number;
  points: number;
  inner: number;
  act: string;
  epsilon: number;
}

/** Cells look around themselves in all levels: float32 [rows, cells, width]. @param x their states */
export function cellLayer(
  g: GraphWriter,
  x: Value,
  { middles, positions, ...levels }: { middles: Value; positions: Value } & Omit<Levels, 'tokens'>,
  { name, points, ...size }: CellLayer,
): Value {
  const { around, feedForward } = placedParts(g, name, { ...size, normsBefore: false });
  const looked = around(x, 'self_attn_layer_norm', (read) =>
    deformableAttention(
      g,
      g.node('Add', [read, positions]),
      { ...levels, tokens: read },
      {
        ...{ name: `${name}.self_attn`, width: size.width, heads: size.heads },
        points: levels.grids.map(() => points),
        around: aroundPoints(g, middles, levels),
      },
    ),
  );
  return feedForward(looked);
}

/** Middles of all cells as each level has them: float32 [rows, cells, levels, 2]. */
export function middlesInLevels(g: GraphWriter, levels: PlacedLevels): Value {
  const middles = g.node('Concat', shownMiddles(g, levels), { axis: 1 });
  return ofLevels(g, middles, levels);
}

/** Points or boxes in parts of what is shown -> of each level with its padding: float32 [rows, queries, levels, 2 or 4]. */
export function ofLevels(g: GraphWriter, x: Value, { shares }: PlacedLevels, isBox = false): Value {
  const factor = isBox ? g.node('Concat', [shares, shares], { axis: 2 }) : shares;
  return g.node('Mul', [g.node('Unsqueeze', [x, g.ints([2])]), g.node('Unsqueeze', [factor, g.ints([1])])]);
}
