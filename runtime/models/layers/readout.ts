import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { activation } from './activation.js';
import { linear } from './linear.js';

export interface Readout {
  kind: 'ignore' | 'add' | 'project';
  width: number;
  act: string;
}

/**
 * Patches, with what the token of the image says to each (DPT).
 * @param tokens float32 [rows, 1, width] and [rows, patches, width] @param name of the projection
 * @returns float32 [rows, patches, width]
 */
export function readout(
  g: GraphWriter,
  { first, others }: { first: Value; others: Value },
  name: string,
  { kind, width, act }: Readout,
): Value {
  if (kind === 'ignore') return others;
  if (kind === 'add') return g.node('Add', [others, first]);
  const said = g.node('Expand', [first, g.node('Shape', [others])]);
  const both = g.node('Concat', [others, said], { axis: 2 });
  return activation(g, linear(g, both, name, { from: 2 * width, to: width }), act);
}
