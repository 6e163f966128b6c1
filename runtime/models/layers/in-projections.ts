import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { matMulTransposed } from './linear.js';

/**
 * The projections of torch's MultiheadAttention, which stores those of queries, keys and values below each other.
 * @param at name of a tensor @returns what makes one of them: 0 queries, 1 keys, 2 values
 */
export function inProjections(
  g: GraphWriter,
  at: (name: string) => string,
  { width, bias = true }: { width: number; bias?: boolean },
): (part: 0 | 1 | 2, read: Value) => Value {
  const parts = (name: string, shape: readonly number[]) =>
    g.nodes('Split', [g.weight(at(name), shape), g.ints([width, width, width])], {
      ...{ outputs: 3, attributes: { axis: 0 } },
    });
  const weights = parts('in_proj_weight', [3 * width, width]);
  const biases = bias ? parts('in_proj_bias', [3 * width]) : undefined;
  return (part, read) => {
    const product = matMulTransposed(g, read, weights[part]!);
    return biases ? g.node('Add', [product, biases[part]!]) : product;
  };
}
