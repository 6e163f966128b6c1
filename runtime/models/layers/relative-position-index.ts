import type { GraphWriter, Value } from '../writer/graph-writer.js';
import type { Edges } from './patch-embed.js';

/**
 * Which row of a table [(2 lines - 1) · (2 columns - 1)] stands for how far two cells of a grid lie apart: int64
 * [cells, cells], the second axis the key.
 */
export function gridDistances(g: GraphWriter, [lines, columns]: Edges): Value {
  const cells = g.node('Range', [g.ints([0], []), g.ints([lines * columns], []), g.ints([1], [])]);
  const apart = (place: Value, edge: number) => {
    const difference = g.node('Sub', [
      g.node('Unsqueeze', [place, g.ints([1])]),
      g.node('Unsqueeze', [place, g.ints([0])]),
    ]);
    return g.node('Add', [difference, g.ints([edge - 1], [])]);
  };
  const line = apart(g.node('Div', [cells, g.ints([columns], [])]), lines);
  const column = apart(g.node('Mod', [cells, g.ints([columns], [])]), columns);
  return g.node('Add', [g.node('Mul', [line, g.ints([2 * columns - 1], [])]), column]);
}
