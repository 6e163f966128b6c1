import { ELEMENTS } from '../writer/tensors.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { attention, type Attended } from './attention.js';
import { headWidth } from './head-sizes.js';
import { matMulTransposed } from './linear.js';
import type { Edges } from './patch-embed.js';

export interface GridAttention {
  heads: number;
  width: number;
  /** Lines and columns of tokens. */
  grid: Edges;
  /** Names of vectors [2 · edge - 1, width of a head] for how far lines lie apart, and how far columns do. */
  tables: readonly [lines: string, columns: string];
}

/**
 * Attention of cells of a grid whose scores depend on how far apart cells lie, along both axes by themselves: MViT's
 * decomposed positions. What queries say of the distances is put behind them, and which line and column a key is of
 * behind keys; so the products of both are the scores, and no scores of all pairs have to be held beside them.
 */
export function gridAttention(
  g: GraphWriter,
  { query, key, value }: Attended,
  { heads, width, grid, tables }: GridAttention,
): Value {
  const own = headWidth(width, heads);
  const [lines, columns] = grid;
  const cells = g.node('Reshape', [query, g.ints([-1, lines, columns, heads, own])]);
  const said = tables.map((name, axis) => {
    const edge = grid[axis]!;
    const table = g.weight(name, [2 * edge - 1, own]);
    const vectors = g.node('Gather', [table, g.once(`distances ${edge}`, () => edgeDistances(g, edge))]);
    return byAxis(g, cells, vectors, { axis: axis + 1, sizes: [lines, columns, heads], own });
  });
  const long = own + lines + columns;
  const asked = g.node('Concat', [cells, ...said], { axis: 4 });
  const positions = g.once(`places ${lines} ${columns}`, () => positionsOf(g, grid));
  const keys = g.node('Reshape', [key, g.ints([-1, lines * columns, heads, own])]);
  const shape = g.node(
    'Concat',
    [...[g.node('Shape', [keys], { start: 0, end: 3 }), g.ints([lines + columns])]],
    { axis: 0 },
  );
  const placed = g.node('Concat', [keys, g.node('Expand', [positions, shape])], { axis: 3 });
  const together = (x: Value) => g.node('Reshape', [x, g.ints([-1, lines * columns, heads * long])]);
  return attention(...[g, { query: together(asked), key: together(placed), value }], {
    heads,
    width: heads * long,
    scale: own ** -0.5,
  });
}

/** int64 [edge, edge]: row of a table for each query and key. */
function edgeDistances(g: GraphWriter, edge: number): Value {
  const [queries, keys] = [
    [edge, 1],
    [1, edge],
  ].map((dims) => g.node('Reshape', [range(g, edge), g.ints(dims)])) as [Value, Value];
  return g.node('Add', [g.node('Sub', [queries, keys]), g.ints([edge - 1], [])]);
}

interface ByAxis {
  axis: number;
  sizes: readonly [lines: number, columns: number, heads: number];
  own: number;
}

/** Products of each cell with the vectors for its position along an axis: [rows, lines, columns, heads, edge]. */
function byAxis(g: GraphWriter, cells: Value, vectors: Value, { axis, sizes, own }: ByAxis): Value {
  const [lines, columns, heads] = sizes;
  const [edge, other] = axis === 1 ? [lines, columns] : [columns, lines];
  const [there, back] =
    axis === 1
      ? [
          [1, 0, 2, 3, 4],
          [1, 0, 2, 3, 4],
        ]
      : [
          [2, 0, 1, 3, 4],
          [1, 2, 0, 3, 4],
        ];
  const first = g.node('Transpose', [cells], { perm: there });
  const flat = g.node('Reshape', [first, g.ints([edge, -1, own])]);
  // Scores are scaled together, and these are not to be.
  const products = matMulTransposed(g, flat, vectors, own ** 0.5);
  const parted = g.node('Reshape', [products, g.ints([edge, -1, other, heads, edge])]);
  return g.node('Transpose', [parted], { perm: back });
}

/** 1 for the line and for the column that a cell is of: float32 [1, cells, 1, lines + columns]. */
function positionsOf(g: GraphWriter, [lines, columns]: Edges): Value {
  const cells = range(g, lines * columns);
  const width = g.ints([columns], []);
  const hot = (place: Value, edge: number) =>
    g.node('Cast', [g.node('OneHot', [place, g.ints([edge], []), g.ints([0, 1])])], { to: ELEMENTS.float32 });
  const both = [hot(g.node('Div', [cells, width]), lines), hot(g.node('Mod', [cells, width]), columns)];
  return g.node('Unsqueeze', [g.node('Concat', both, { axis: 1 }), g.ints([0, 2])]);
}

const range = (g: GraphWriter, end: number): Value =>
  g.node('Range', [g.ints([0], []), g.ints([end], []), g.ints([1], [])]);
