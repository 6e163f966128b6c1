import type { GraphWriter, Value } from '../graph-writer.js';
import { headWidth } from './heads.js';
import { linear } from './linear.js';
import { pictureOf } from './pictures.js';

/** A picture of one size among several. */
export interface Level {
  /** float32 [rows, cells, width] */
  tokens: Value;
  /** int64 [2]: lines and columns. */
  grid: Value;
}

export interface DeformableAttention {
  name: string;
  width: number;
  heads: number;
  /** Places of each picture that a head looks at. */
  points: number;
  /** Boxes around which those are, as middle and size between 0 and 1: float32 [rows, queries, 4]. */
  boxes: Value;
  /** Of half a box that the farthest place lies away at an offset of one; 0.5 if absent. */
  reach?: number;
}

/**
 * Deformable DETR's attention: each query looks at few places of each picture, which it chooses by itself. What lies beyond a picture
 * counts as zeros.
 * @param query float32 [rows, queries, width] @returns of the same shape
 */
export function deformableAttention(
  g: GraphWriter,
  query: Value,
  levels: readonly Level[],
  { name, width, heads, points, boxes, reach = 0.5 }: DeformableAttention,
): Value {
  const own = headWidth(width, heads);
  const count = levels.length * points;
  const shaped = (x: Value, shape: readonly number[]) => g.node('Reshape', [x, g.ints(shape)]);
  const headsFirst = (x: Value) => g.node('Transpose', [x], { perm: [0, 2, 1, 3] });
  const offsets = linear(g, query, `${name}.sampling_offsets`, { from: width, to: heads * count * 2 });
  const [middle, size] = g.nodes('Split', [boxes, g.ints([2, 2])], {
    ...{ outputs: 2, attributes: { axis: -1 } },
  }) as [Value, Value];
  const ofAll = (x: Value) => g.node('Unsqueeze', [x, g.ints([2])]);
  const unit = g.node('Mul', [ofAll(size), g.scalar(reach / points)]);
  const apart = g.node('Mul', [shaped(offsets, [0, 0, heads * count, 2]), unit]);
  const places = g.node('Add', [apart, ofAll(middle)]);
  // From -1 to 1, as samplers have them.
  const centred = g.node('Sub', [g.node('Mul', [places, g.scalar(2)]), g.scalar(1)]);
  const ofHeads = headsFirst(shaped(centred, [0, 0, heads, count * 2]));
  const ofLevels = g.nodes('Split', [ofHeads, g.ints(levels.map(() => points * 2))], {
    ...{ outputs: levels.length, attributes: { axis: -1 } },
  });
  const queries = g.node('Shape', [query], { start: 1, end: 2 });
  const seen = levels.map(({ tokens, grid }, level) => {
    const value = linear(g, tokens, `${name}.value_proj`, { from: width, to: width });
    const plane = g.node('Reshape', [
      ...[pictureOf(g, value, grid), g.node('Concat', [g.ints([-1, own]), grid], { axis: 0 })],
    ]);
    const shape = g.node('Concat', [g.ints([-1]), queries, g.ints([points, 2])], { axis: 0 });
    const at = g.node('Reshape', [ofLevels[level]!, shape]);
    return g.node('GridSample', [plane, at], { mode: 'linear', padding_mode: 'zeros', align_corners: 0 });
  });
  const scores = linear(g, query, `${name}.attention_weights`, { from: width, to: heads * count });
  const shares = headsFirst(g.node('Softmax', [shaped(scores, [0, 0, heads, count])], { axis: -1 }));
  const sharesShape = g.node('Concat', [g.ints([-1, 1]), queries, g.ints([count])], { axis: 0 });
  const weighed = g.node('Mul', [
    g.node('Concat', seen, { axis: 3 }),
    g.node('Reshape', [shares, sharesShape]),
  ]);
  const sum = g.node('ReduceSum', [weighed, g.ints([-1])], { keepdims: 0 });
  const together = g.node('Reshape', [sum, g.node('Concat', [g.ints([-1, width]), queries], { axis: 0 })]);
  const turned = g.node('Transpose', [together], { perm: [0, 2, 1] });
  return linear(g, turned, `${name}.output_proj`, { from: width, to: width });
}
