import { gridOf, resize } from '../../layers/patch-embed.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';

/** How MobileViT cuts an image. */
export interface Cells {
  /** Edge of a patch. */
  patch: number;
  width: number;
}

/**
 * What `read` makes of an image's cells, those at the same place of their patches together: float32
 * [rows · positions of a patch, patches, width]. Images that are no whole number of patches are made larger for it.
 * @param x float32 [rows, width, lines, columns] @returns of the same shape
 */
export function throughCells(
  g: GraphWriter,
  x: Value,
  { patch, width }: Cells,
  read: (cells: Value) => Value,
): Value {
  const own = g.node('Shape', [x]);
  const before = g.node('Shape', [x], { start: 0, end: 2 });
  const edge = g.ints([patch]);
  const counts = g.node('Div', [g.node('Add', [gridOf(g, x), g.ints([patch - 1])]), edge]);
  const shape = g.node('Concat', [before, g.node('Mul', [counts, edge])], { axis: 0 });
  const whole = resize(g, x, shape, { mode: 'linear' });
  const [down, across] = g.nodes('Split', [counts, g.ints([1, 1])], {
    ...{ outputs: 2, attributes: { axis: 0 } },
  }) as [Value, Value];
  const rows = g.node('Shape', [x], { start: 0, end: 1 });
  const parts = [rows, g.ints([width]), down, edge, across, edge];
  const parted = g.node('Reshape', [whole, g.node('Concat', parts, { axis: 0 })]);
  const turned = g.node('Transpose', [parted], { perm: [0, 3, 5, 2, 4, 1] });
  const patches = g.node('Mul', [down, across]);
  const cells = g.node('Reshape', [
    turned,
    g.node('Concat', [g.ints([-1]), patches, g.ints([width])], { axis: 0 }),
  ]);
  const backParts = [rows, edge, edge, down, across, g.ints([width])];
  const found = g.node('Reshape', [read(cells), g.node('Concat', backParts, { axis: 0 })]);
  const back = g.node('Transpose', [found], { perm: [0, 5, 3, 1, 4, 2] });
  return resize(g, g.node('Reshape', [back, shape]), own, { mode: 'linear' });
}
