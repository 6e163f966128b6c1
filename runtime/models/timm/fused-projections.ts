import type { Attended } from '../layers/attention.js';
import { headWidth } from '../layers/head-sizes.js';
import { linear } from '../layers/linear.js';
import { splitRows } from '../layers/fused-projections.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';

/** Queries, keys and values of one matrix, with biases of their own for queries and values, as relatives of BEiT have it in timm. */
export function fusedProjections(
  g: GraphWriter,
  x: Value,
  at: (name: string) => string,
  { width, heads }: { width: number; heads: number },
): Attended {
  const fused = linear(g, x, at('attn.qkv'), { from: width, to: 3 * width, bias: false });
  const found = splitRows(g, fused, { heads, keyHeads: heads, width: headWidth(width, heads) });
  const biased = (value: Value, name: string) => g.node('Add', [value, g.weight(at(name), [width])]);
  if (!g.weights.has(at('attn.q_bias'))) return found;
  return {
    ...found,
    query: biased(found.query, 'attn.q_bias'),
    value: biased(found.value, 'attn.v_bias'),
  };
}
