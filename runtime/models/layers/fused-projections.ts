import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { headGroup } from './head-sizes.js';
import type { Projected } from './cached-attention.js';

export interface HeadCounts {
  heads: number;
  keyHeads: number;
  /** Of a head. */
  width: number;
}

/** Parts a fused projection whose rows are all heads of queries, then of keys, then of values. */
export function splitRows(g: GraphWriter, x: Value, { heads, keyHeads, width }: HeadCounts): Projected {
  const sizes = g.ints([heads * width, keyHeads * width, keyHeads * width]);
  const [query, key, value] = g.nodes('Split', [x, sizes], { outputs: 3, attributes: { axis: -1 } }) as [
    ...[Value, Value, Value],
  ];
  return { query, key, value };
}

/**
 * Parts a fused projection whose rows are groups: heads of queries, and the head of keys and of values that they share.
 * GPT-NeoX has one head of queries in each, Falcon several.
 */
export function splitGroups(g: GraphWriter, x: Value, { heads, keyHeads, width }: HeadCounts): Projected {
  const group = headGroup(heads, keyHeads);
  const grouped = g.node('Reshape', [x, g.ints([0, 0, keyHeads, (group + 2) * width])]);
  const sizes = g.ints([group * width, width, width]);
  const parts = g.nodes('Split', [grouped, sizes], { outputs: 3, attributes: { axis: -1 } });
  const [query, key, value] = parts.map((part, i) =>
    g.node('Reshape', [part, g.ints([0, 0, (i === 0 ? heads : keyHeads) * width])]),
  ) as [Value, Value, Value];
  return { query, key, value };
}
