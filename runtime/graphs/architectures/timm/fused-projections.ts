import type { Attended } from '../../blocks/attention.js';
import { headWidth } from '../../blocks/heads.js';
import { linear } from '../../blocks/linear.js';
import { splitRows } from '../../blocks/projections.js';
import type { GraphWriter, Value } from '../../graph-writer.js';

/** Queries, keys and values of one matrix, with biases of their own for queries and values, as BEiT's kin have it in timm. */
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
