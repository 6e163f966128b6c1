import type { GraphWriter, Value } from '../writer/graph-writer.js';

/** Names of a weight's lengths and directions, of torch's two ways to hold them apart. */
const NORMED = [
  ['weight_g', 'weight_v'],
  ['parametrizations.weight.original0', 'parametrizations.weight.original1'],
] as const;

/**
 * `name`.weight, or what torch's weight_norm holds in its place: lengths · directions / |directions|.
 * @param axis along which lengths differ
 */
export function normedWeight(g: GraphWriter, name: string, shape: readonly number[], axis = 0): Value {
  if (g.weights.has(`${name}.weight`)) return g.weight(`${name}.weight`, shape);
  const [length, direction] = NORMED.find(([part]) => g.weights.has(`${name}.${part}`)) ?? NORMED[0];
  const v = g.weight(`${name}.${direction}`, shape);
  const others = shape.map((_, i) => i).filter((i) => i !== axis);
  const norm = g.node('ReduceL2', [v, g.ints(others)], { keepdims: 1 });
  const lengths = shape.map((size, i) => (i === axis ? size : 1));
  return g.node('Mul', [v, g.node('Div', [g.weight(`${name}.${length}`, lengths), norm])]);
}
