import type { GraphWriter, Value } from '../writer/graph-writer.js';

/** torch's GLU over channels: float32 [rows, 2 · width, steps] -> [rows, width, steps], the second half as gates of the first. */
export function gatedChannels(g: GraphWriter, x: Value, width: number): Value {
  const [value, gate] = g.nodes('Split', [x, g.ints([width, width])], {
    ...{ outputs: 2, attributes: { axis: 1 } },
  }) as [Value, Value];
  return g.node('Mul', [value, g.node('Sigmoid', [gate])]);
}
