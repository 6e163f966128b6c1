import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { ELEMENTS } from '../writer/tensors.js';

export interface Spline {
  bins: number;
  /** The curve is the identity beyond it, to both sides. */
  bound: number;
}

/** Least width and height of a bin, and least slope of a knot. */
const LEAST = 1e-3;
/** What the last knot is moved by, so that the bound itself lies in the last bin. */
const MOVED = 1e-6;

/** What is learned of a curve: float32 [points, bins], [points, bins], [points, bins - 1]; a slope for each inner knot. */
export interface Shape {
  widths: Value;
  heights: Value;
  slopes: Value;
}

/**
 * Where a growing curve of rational quadratic pieces has these heights: float32 [points, 1] -> [points, 1]. A curve for each
 * point (_unconstrained_rational_quadratic_spline of modeling_vits.py, in reverse).
 */
export function inverseSpline(g: GraphWriter, y: Value, shape: Shape, spline: Spline): Value {
  const { bins, bound } = spline;
  const [low, high] = [g.scalar(-bound), g.scalar(bound)];
  const inside = g.node('Clip', [y, low, high]);
  const width = knotsOf(g, shape.widths, spline);
  const height = knotsOf(g, shape.heights, spline);
  const slopes = slopesOf(g, shape.slopes);

  const ends = g.node(
    'Concat',
    [
      ...[
        columns(g, height.knots, 0, bins),
        g.node('Add', [columns(g, height.knots, bins, bins + 1), g.scalar(MOVED)]),
      ],
    ],
    { axis: 1 },
  );
  const reached = g.node('Cast', [g.node('GreaterOrEqual', [inside, ends])], { to: ELEMENTS.int64 });
  const counted = g.node('Sub', [
    g.node('ReduceSum', [reached, g.ints([1])], { keepdims: 1 }),
    g.ints([1], []),
  ]);
  const bin = g.node('Min', [counted, g.ints([bins - 1], [])]);
  const at = (table: Value) => g.node('GatherElements', [table, bin], { axis: 1 });

  const mul = (a: Value, b: Value) => g.node('Mul', [a, b]);
  const sub = (a: Value, b: Value) => g.node('Sub', [a, b]);
  const add = (a: Value, b: Value) => g.node('Add', [a, b]);
  const mean = at(g.node('Div', [height.sizes, width.sizes]));
  const first = at(columns(g, slopes, 0, bins));
  const second = at(columns(g, slopes, 1, bins + 1));
  const bent = sub(add(first, second), mul(g.scalar(2), mean));
  const above = sub(inside, at(columns(g, height.knots, 0, bins)));
  const moved = mul(above, bent);
  const tall = at(height.sizes);
  const a = add(mul(tall, sub(mean, first)), moved);
  const b = sub(mul(tall, first), moved);
  const c = mul(g.node('Neg', [mean]), above);
  const discriminant = sub(mul(b, b), mul(mul(g.scalar(4), a), c));
  const root = g.node('Div', [mul(g.scalar(2), c), sub(g.node('Neg', [b]), g.node('Sqrt', [discriminant]))]);
  const found = add(mul(root, at(width.sizes)), at(columns(g, width.knots, 0, bins)));
  return g.node('Where', [g.node('Equal', [inside, y]), found, y]);
}

const columns = (g: GraphWriter, x: Value, from: number, to: number): Value =>
  g.node('Slice', [x, g.ints([from]), g.ints([to]), g.ints([1])]);

/** Positions of the knots [points, bins + 1] from bound to bound, and how far they lie apart [points, bins]. */
function knotsOf(g: GraphWriter, learned: Value, { bins, bound }: Spline): { knots: Value; sizes: Value } {
  const shares = g.node('Softmax', [learned], { axis: -1 });
  const sizes = g.node('Add', [g.node('Mul', [shares, g.scalar(1 - LEAST * bins)]), g.scalar(LEAST)]);
  const inner = columns(g, g.node('CumSum', [sizes, g.ints([1], [])]), 0, bins - 1);
  const placed = g.node('Sub', [g.node('Mul', [inner, g.scalar(2 * bound)]), g.scalar(bound)]);
  const pads = [-bound, bound].map((place) => endColumn(g, learned, place)) as [Value, Value];
  const knots = g.node('Concat', [pads[0], placed, pads[1]], { axis: 1 });
  const apart = g.node('Sub', [columns(g, knots, 1, bins + 1), columns(g, knots, 0, bins)]);
  return { knots, sizes: apart };
}

/** Slopes of all knots, [points, bins + 1]; those at the bounds are 1. */
function slopesOf(g: GraphWriter, learned: Value): Value {
  const end = endColumn(g, learned, Math.log(Math.exp(1 - LEAST) - 1));
  const all = g.node('Concat', [end, learned, end], { axis: 1 });
  return g.node('Add', [g.node('Softplus', [all]), g.scalar(LEAST)]);
}

/** float32 [points, 1] of one number. */
function endColumn(g: GraphWriter, x: Value, value: number): Value {
  const points = g.node('Shape', [x], { start: 0, end: 1 });
  const shape = g.node('Concat', [points, g.ints([1])], { axis: 0 });
  return g.node('Expand', [g.floats([value], [1, 1]), shape]);
}
