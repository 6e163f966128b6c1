import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { distances } from './text-inputs.js';

/** Least float32, with which Python masks. */
const LEAST = -3.4028234663852886e38;

/** What tokens don't see beyond `reach` to either side: float32 [1, 1, queries, keys], added to scores. @param x states */
export function windowMask(g: GraphWriter, x: Value, reach: number, least = LEAST): Value {
  return g.once(`window ${reach}`, () => {
    const far = g.node('Abs', [distances(g, x)]);
    const near = g.node('Unsqueeze', [g.node('LessOrEqual', [far, g.ints([reach], [])]), g.ints([0, 1])]);
    return g.node('Where', [near, g.scalar(0), g.scalar(least)]);
  });
}
