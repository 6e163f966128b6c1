import { ELEMENTS } from '../writer/tensors.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';

/**
 * A mask of pixels for a smaller grid, as torch's interpolate takes the nearest ones: float32 [rows, lines, columns].
 * @param mask [rows, height, width], any type; `grid` int64 [2]
 */
export const nearestMask = (g: GraphWriter, mask: Value, grid: Value): Value =>
  nearestCells(g, g.node('Cast', [mask], { to: ELEMENTS.float32 }), grid, 1);

/**
 * The nearest cells for another grid, as torch's interpolate takes them.
 * @param axis of lines; that of columns is the next @param grid int64 [2]
 */
export function nearestCells(g: GraphWriter, x: Value, grid: Value, axis: number): Value {
  return [0, 1].reduce((found, i) => {
    const size = (of: Value, from: number) =>
      g.node('Squeeze', [g.node('Slice', [of, g.ints([from]), g.ints([from + 1])])]);
    const float = (value: Value) => g.node('Cast', [value], { to: ELEMENTS.float32 });
    const [from, to] = [size(g.node('Shape', [x]), axis + i), size(grid, i)];
    const range = float(g.node('Range', [g.ints([0], []), to, g.ints([1], [])]));
    const positions = g.node('Floor', [g.node('Mul', [range, g.node('Div', [float(from), float(to)])])]);
    const whole = g.node('Cast', [positions], { to: ELEMENTS.int64 });
    const within = g.node('Min', [whole, g.node('Sub', [from, g.ints([1], [])])]);
    return g.node('Gather', [found, within], { axis: axis + i });
  }, x);
}

/** Both halves of a position's vector go from 0 to a whole turn. */
const [TURN, EPSILON, BASE] = [2 * Math.PI, 1e-6, 10_000];

/** Positions of the cells of an image without padding: float32 [1, lines · columns, width]. @param grid int64 [2] */
export function gridPositions(g: GraphWriter, grid: Value, width: number): Value {
  const shape = g.node('Concat', [g.ints([1]), grid], { axis: 0 });
  return sinePositions(g, g.node('Expand', [g.scalar(1), shape]), width);
}

export interface SineSettings {
  /** The slowest wave is so much slower. */
  base?: number;
  /** True where positions are middles of cells, and not their ends. */
  middles?: boolean;
}

/**
 * DETR's sines of where a cell lies among those that are no padding: float32 [rows, lines · columns, width].
 * @param mask float32 [rows, lines, columns]
 */
export function sinePositions(
  g: GraphWriter,
  mask: Value,
  width: number,
  { base = BASE, middles = false }: SineSettings = {},
): Value {
  const parts = [1, 2].map((axis) => {
    const counted = g.node('CumSum', [mask, g.ints([axis], [])]);
    const last = g.node('Slice', [counted, g.ints([-1]), g.ints([2 ** 53]), g.ints([axis])]);
    const place = middles ? g.node('Sub', [counted, g.scalar(0.5)]) : counted;
    const share = g.node('Div', [place, g.node('Add', [last, g.scalar(EPSILON)])]);
    const flat = g.node('Reshape', [share, g.ints([0, -1, 1])]);
    return turnWaves(g, flat, width / 2, base);
  });
  return g.node('Concat', parts, { axis: 2 });
}

/**
 * A sine and a cosine in turn of numbers that make a whole turn from 0 to 1: float32 [rows, tokens, numbers] ->
 * [rows, tokens, numbers · width].
 */
export function turnWaves(g: GraphWriter, positions: Value, width: number, base = BASE): Value {
  const periods = g.floats(Array.from({ length: width / 2 }, (_, i) => base ** ((2 * i) / width)));
  const turned = g.node('Unsqueeze', [g.node('Mul', [positions, g.scalar(TURN)]), g.ints([3])]);
  const angles = g.node('Unsqueeze', [g.node('Div', [turned, periods]), g.ints([4])]);
  const pairs = g.node('Concat', [g.node('Sin', [angles]), g.node('Cos', [angles])], { axis: 4 });
  return g.node('Reshape', [pairs, g.ints([0, 0, -1])]);
}
