import type { GraphWriter, Value } from '../writer/graph-writer.js';

/** float32 [rows, tokens, heads · width] -> [rows, heads, tokens, width] */
export function byHead(g: GraphWriter, x: Value, heads: number, width: number): Value {
  const split = g.node('Reshape', [x, g.ints([0, 0, heads, width])]);
  return g.node('Transpose', [split], { perm: [0, 2, 1, 3] });
}
