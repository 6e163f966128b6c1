import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { ELEMENTS } from '../writer/tensors.js';

/** Edge of a box that a cell of the finest image may say something of, and how near an edge of the image its middle may be. */
const [EDGE, MARGIN] = [0.05, 0.01];
/** Stands where a cell says nothing. */
const MOST = 3.4028234663852886e38;

export interface Anchors {
  /** float32 [rows or 1, cells, 4] */
  boxes: Value;
  /** float32 [rows or 1, cells, 1], 0 where a cell says nothing. */
  seen: Value;
}

interface PlainAnchors extends Anchors {
  /** bool [rows or 1, cells, 1] */
  isSeen: Value;
}

/**
 * Boxes around cells of images, each image's twice as large as those of the one before, as shares of the image.
 * @param middles of its cells between 0 and 1, columns first: float32 [rows or 1, cells, 2]
 * @param shown 0 for padding: float32 [rows, cells of all, 1]
 */
function boxesAround(g: GraphWriter, middles: readonly Value[], shown?: Value): Anchors {
  const boxes = middles.map((middle, level) => {
    const edges = g.node('Expand', [g.scalar(EDGE * 2 ** level), g.node('Shape', [middle])]);
    return g.node('Concat', [middle, edges], { axis: 2 });
  });
  const all = g.node('Concat', boxes, { axis: 1 });
  const within = g.node('And', [
    g.node('Greater', [all, g.scalar(MARGIN)]),
    g.node('Less', [all, g.scalar(1 - MARGIN)]),
  ]);
  const inside = g.node('ReduceMin', [g.node('Cast', [within], { to: ELEMENTS.float32 }), g.ints([2])]);
  return { boxes: all, seen: shown === undefined ? inside : g.node('Mul', [inside, shown]) };
}

/** The same before the sigmoid. */
export function anchorBoxes(g: GraphWriter, middles: readonly Value[], shown?: Value): Anchors {
  const { boxes: all, seen } = boxesAround(g, middles, shown);
  const odds = g.node('Log', [g.node('Div', [all, g.node('Sub', [g.scalar(1), all])])]);
  const isSeen = g.node('Greater', [seen, g.scalar(0)]);
  return { boxes: g.node('Where', [isSeen, odds, g.scalar(MOST)]), seen };
}

/** The same as shares, zeros where a cell says nothing. */
export function anchorShares(g: GraphWriter, middles: readonly Value[]): PlainAnchors {
  const { boxes: all, seen } = boxesAround(g, middles);
  const isSeen = g.node('Greater', [seen, g.scalar(0)]);
  return { boxes: g.node('Mul', [all, seen]), seen, isSeen };
}

export interface Chosen {
  /** int64 [rows, queries, 1] */
  at: Value;
  /** What stands at these positions of float32 [rows, cells, …]. */
  of(x: Value): Value;
}

/** The cells with the largest scores, float32 [rows, cells], the best first. */
export function bestCells(g: GraphWriter, scores: Value, count: number): Chosen {
  const [, positions] = g.nodes('TopK', [scores, g.ints([count])], { outputs: 2, attributes: { axis: 1 } });
  const at = g.node('Unsqueeze', [positions!, g.ints([2])]);
  return { at, of: (x) => g.node('GatherND', [x, at], { batch_dims: 1 }) };
}
