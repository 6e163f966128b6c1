import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { ELEMENTS } from '../writer/tensors.js';
import { headWidth } from './head-sizes.js';
import { linear } from './linear.js';
import { gridOf, imageOf, tokensOf } from './patch-embed.js';

/** Images of several sizes, whose cells stand behind each other. */
export interface Levels {
  /** float32 [rows, cells of all, width] */
  tokens: Value;
  /** float32 [rows, cells of all, 1], 0 for padding; absent where there is none. */
  seen?: Value | undefined;
  /** Of each, int64 [2]: lines and columns. */
  grids: readonly Value[];
}

/** @param images float32 [rows, width, lines, columns] each */
export function levelsOf(g: GraphWriter, images: readonly Value[]): Levels {
  const tokens = images.map((image) => tokensOf(g, image));
  return {
    tokens: tokens.length === 1 ? tokens[0]! : g.node('Concat', tokens, { axis: 1 }),
    grids: images.map((image) => gridOf(g, image)),
  };
}

/** What queries look at: float32 [rows, queries, 1 or levels, 2] each, columns first, in parts of the image. */
export interface Around {
  middle: Value;
  /** How far an offset of one reaches. */
  unit: Value;
  /** Of that, the part of each point of all levels, one behind the other: float32 [points]; whole if absent. */
  parts?: Value;
}

export interface BoxReach {
  /** Of each level. */
  points: readonly number[];
  /** Part of a box that the farthest place lies away at an offset of one; half of it if absent. */
  reach?: number;
  /** Name of the parts that points have of it, in checkpoints that store them. */
  parts?: string;
}

/** Around boxes, as middle and size: float32 [rows, queries, 1 or levels, 4]. */
export function aroundBoxes(g: GraphWriter, boxes: Value, { points, reach = 0.5, parts }: BoxReach): Around {
  const [middle, size] = g.nodes('Split', [boxes, g.ints([2, 2])], {
    ...{ outputs: 2, attributes: { axis: -1 } },
  }) as [Value, Value];
  const each = points.flatMap((count) => Array<number>(count).fill(1 / count));
  const stored = parts !== undefined && g.weights.has(parts) ? g.weight(parts, [each.length]) : undefined;
  return { middle, unit: g.node('Mul', [size, g.scalar(reach)]), parts: stored ?? g.floats(each) };
}

/** Around points, float32 [rows, queries, levels, 2]; an offset of one is a cell. */
export function aroundPoints(g: GraphWriter, middle: Value, { grids }: Pick<Levels, 'grids'>): Around {
  const sizes = grids.map((grid) => g.node('Gather', [grid, g.ints([1, 0])]));
  const all = g.node('Cast', [g.node('Concat', sizes, { axis: 0 })], { to: ELEMENTS.float32 });
  return { middle, unit: g.node('Reciprocal', [g.node('Reshape', [all, g.ints([1, 1, -1, 2])])]) };
}

/** Cells of each level: int64 [levels]. */
export function cellCounts(g: GraphWriter, grids: readonly Value[]): Value {
  return g.once(`cells of ${grids.join()}`, () =>
    g.node(
      'Concat',
      grids.map((grid) => g.node('ReduceProd', [grid])),
      { axis: 0 },
    ),
  );
}

export interface DeformableAttention {
  name: string;
  width: number;
  heads: number;
  /** Positions of each image that a head looks at. */
  points: readonly number[];
  around: Around;
  /** False where cells are read as they are, and what is seen of them is given so. */
  projects?: boolean;
}

/**
 * Deformable DETR's attention: each query looks at few positions of each image, which it chooses by itself. What lies beyond an image
 * counts as zeros.
 * @param query float32 [rows, queries, width] @returns of the same shape
 */
export function deformableAttention(
  g: GraphWriter,
  query: Value,
  levels: Levels,
  { projects = true, ...options }: DeformableAttention,
): Value {
  const { name, width, heads, points } = options;
  const own = headWidth(width, heads);
  const { grids } = levels;
  const count = points.reduce((sum, one) => sum + one, 0);
  const queries = g.node('Shape', [query], { start: 1, end: 2 });
  const shaped = (x: Value, before: readonly number[], behind?: readonly number[]) => {
    const shape = [g.ints(before), queries, ...(behind ? [g.ints(behind)] : [])];
    return g.node('Reshape', [x, g.node('Concat', shape, { axis: 0 })]);
  };
  const positions = partsOfLevels(g, chosenPositions(g, query, options), points);
  const scores = linear(g, query, `${name}.attention_weights`, { from: width, to: heads * count });
  const shares = g.node('Softmax', [g.node('Reshape', [scores, g.ints([0, 0, heads, count])])], { axis: -1 });
  const weights = partsOfLevels(g, g.node('Unsqueeze', [shares, g.ints([4])]), points);
  const values = valuesOfLevels(g, levels, {
    width,
    projection: projects ? `${name}.value_proj` : undefined,
  });
  const seen = values.map((value, level) => {
    const planes = g.node('Concat', [g.ints([-1, own]), grids[level]!], { axis: 0 });
    const plane = g.node('Reshape', [imageOf(g, value, grids[level]!), planes]);
    const [at, weight] = [
      shaped(positions[level]!, [-1], [points[level]!, 2]),
      shaped(weights[level]!, [-1, 1], [points[level]!]),
    ];
    const found = g.node('GridSample', [plane, at], {
      ...{ mode: 'linear', padding_mode: 'zeros', align_corners: 0 },
    });
    return g.node('ReduceSum', [g.node('Mul', [found, weight]), g.ints([-1])], { keepdims: 0 });
  });
  const sum = seen.length === 1 ? seen[0]! : g.node('Sum', seen);
  const turned = g.node('Transpose', [shaped(sum, [-1, width])], { perm: [0, 2, 1] });
  return projects ? linear(g, turned, `${name}.output_proj`, { from: width, to: width }) : turned;
}

/** Where heads look, from -1 to 1 as samplers have it: float32 [rows, queries, heads, points of all levels, 2]. */
function chosenPositions(
  g: GraphWriter,
  query: Value,
  { name, width, heads, points, around }: DeformableAttention,
): Value {
  const levelOfPoint = points.flatMap((count, level) => Array<number>(count).fill(level));
  const count = levelOfPoint.length;
  const offsets = linear(g, query, `${name}.sampling_offsets`, { from: width, to: heads * count * 2 });
  const ofPoints = (x: Value) => {
    const ofLevels = g.node('Expand', [x, g.ints([1, 1, points.length, 1])]);
    return g.node('Unsqueeze', [
      g.node('Gather', [ofLevels, g.ints(levelOfPoint)], { axis: 2 }),
      g.ints([2]),
    ]);
  };
  const whole = g.node('Reshape', [offsets, g.ints([0, 0, heads, count, 2])]);
  const { unit, middle, parts } = around;
  const parted =
    parts === undefined ? whole : g.node('Mul', [whole, g.node('Unsqueeze', [parts, g.ints([1])])]);
  const positions = g.node('Add', [g.node('Mul', [parted, ofPoints(unit)]), ofPoints(middle)]);
  return g.node('Sub', [g.node('Mul', [positions, g.scalar(2)]), g.scalar(1)]);
}

/** float32 [rows, queries, heads, points of all, …] -> [rows, heads, queries, points, …] for each level. */
function partsOfLevels(g: GraphWriter, x: Value, points: readonly number[]): Value[] {
  const headsFirst = g.node('Transpose', [x], { perm: [0, 2, 1, 3, 4] });
  if (points.length === 1) return [headsFirst];
  return g.nodes('Split', [headsFirst, g.ints(points)], {
    ...{ outputs: points.length, attributes: { axis: 3 } },
  });
}

/** float32 [rows, cells, width] of each level. */
function valuesOfLevels(
  g: GraphWriter,
  { tokens, seen, grids }: Levels,
  { projection, width }: { projection: string | undefined; width: number },
): Value[] {
  const value = projection === undefined ? tokens : linear(g, tokens, projection, { from: width, to: width });
  const kept = seen === undefined ? value : g.node('Mul', [value, seen]);
  if (grids.length === 1) return [kept];
  return g.nodes('Split', [kept, cellCounts(g, grids)], {
    ...{ outputs: grids.length, attributes: { axis: 1 } },
  });
}
