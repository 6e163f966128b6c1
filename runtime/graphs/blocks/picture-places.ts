import { ELEMENTS } from '../tensors.js';
import type { GraphWriter, Value } from '../graph-writer.js';

/**
 * A mask of pixels for a smaller grid, as torch's interpolate takes the nearest ones: float32 [rows, lines, columns].
 * @param mask [rows, height, width], any type; `grid` int64 [2]
 */
export function nearestMask(g: GraphWriter, mask: Value, grid: Value): Value {
  return [1, 2].reduce(
    (x, axis) => {
      const size = (of: Value, from: number) =>
        g.node('Squeeze', [g.node('Slice', [of, g.ints([from]), g.ints([from + 1])])]);
      const float = (x: Value) => g.node('Cast', [x], { to: ELEMENTS.float32 });
      const [from, to] = [size(g.node('Shape', [mask]), axis), size(grid, axis - 1)];
      const range = float(g.node('Range', [g.ints([0], []), to, g.ints([1], [])]));
      const places = g.node('Floor', [g.node('Mul', [range, g.node('Div', [float(from), float(to)])])]);
      const whole = g.node('Cast', [places], { to: ELEMENTS.int64 });
      return g.node('Gather', [x, g.node('Min', [whole, g.node('Sub', [from, g.ints([1], [])])])], { axis });
    },
    g.node('Cast', [mask], { to: ELEMENTS.float32 }),
  );
}

/** Both halves of a place's vector go from 0 to a whole turn. */
const [TURN, EPSILON, BASE] = [2 * Math.PI, 1e-6, 10_000];

/**
 * DETR's sines of where a cell lies among those that are no padding: float32 [rows, lines · columns, width].
 * @param mask float32 [rows, lines, columns]
 */
export function sinePlaces(g: GraphWriter, mask: Value, width: number): Value {
  const half = width / 2;
  const periods = g.floats(Array.from({ length: half / 2 }, (_, i) => BASE ** ((2 * i) / half)));
  const parts = [1, 2].map((axis) => {
    const counted = g.node('CumSum', [mask, g.ints([axis], [])]);
    const last = g.node('Slice', [counted, g.ints([-1]), g.ints([2 ** 53]), g.ints([axis])]);
    const share = g.node('Div', [counted, g.node('Add', [last, g.scalar(EPSILON)])]);
    const place = g.node('Unsqueeze', [g.node('Mul', [share, g.scalar(TURN)]), g.ints([3])]);
    const angles = g.node('Unsqueeze', [g.node('Div', [place, periods]), g.ints([4])]);
    const pairs = g.node('Concat', [g.node('Sin', [angles]), g.node('Cos', [angles])], { axis: 4 });
    return g.node('Reshape', [pairs, g.ints([0, 0, 0, half])]);
  });
  return g.node('Reshape', [g.node('Concat', parts, { axis: 3 }), g.ints([0, -1, width])]);
}
