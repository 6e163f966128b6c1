import { GraphError } from '../writer/errors.js';
import { ELEMENTS } from '../writer/tensors.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';

/** How the angle of a position's i-th pair of numbers grows, for i from 0 on: position · frequency. */
export type FrequencyOf = (i: number) => number;

/**
 * Positions that no checkpoint stores: sines of the angles, then their cosines.
 * @param positions int64 [...]
 * @returns float32 [..., width]
 * @throws GraphError for a width that is odd
 */
export function sinusoids(g: GraphWriter, positions: Value, width: number, frequencyOf: FrequencyOf): Value {
  if (width % 2 !== 0)
    throw new GraphError(`config.json: positions of an odd width, ${width}, are not known`);
  const frequencies = g.floats(Array.from({ length: width / 2 }, (_, i) => frequencyOf(i)));
  const place = g.node('Unsqueeze', [g.node('Cast', [positions], { to: ELEMENTS.float32 }), g.ints([-1])]);
  const angles = g.node('Mul', [place, frequencies]);
  return g.node('Concat', [g.node('Sin', [angles]), g.node('Cos', [angles])], { axis: -1 });
}
