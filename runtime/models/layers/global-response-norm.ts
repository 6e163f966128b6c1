import type { GraphWriter, Value } from '../writer/graph-writer.js';

/**
 * ConvNeXt's global response norm: x · weight · (length of its channel / mean length of all) + bias + x, of float32 [rows,
 * lines, columns, width].
 * @param shape of weight and bias
 */
export function responseNorm(
  g: GraphWriter,
  x: Value,
  at: string,
  { shape, epsilon }: { shape: readonly number[]; epsilon: number },
): Value {
  const lengths = g.node('ReduceL2', [x, g.ints([1, 2])], { keepdims: 1 });
  const mean = g.node('ReduceMean', [lengths, g.ints([-1])], { keepdims: 1 });
  const shares = g.node('Div', [lengths, g.node('Add', [mean, g.scalar(epsilon)])]);
  const [weight, bias] = ['weight', 'bias'].map((name) => g.weight(`${at}.${name}`, shape));
  const scaled = g.node('Mul', [weight!, g.node('Mul', [x, shares])]);
  return g.node('Add', [g.node('Add', [scaled, bias!]), x]);
}
