import { linear } from '../../layers/linear.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';

export interface AudioLabels {
  /** Of the states, and of what is made of them. */
  width: number;
  projected: number;
  labels: number;
  /** True where all states count, by learned weights. */
  weighted: boolean;
  /** float32 [rows, steps, 1]: 0 for steps that don't count; all do if absent. */
  seen?: Value;
}

/** Declares `logits` of labels, of the mean of all steps. @param states what the encoder reads, and what each layer gives */
export function audioLabels(
  g: GraphWriter,
  states: readonly Value[],
  { width, projected, labels, weighted, seen }: AudioLabels,
): void {
  const read = weighted ? weightedSum(g, states) : states.at(-1)!;
  const steps = linear(g, read, 'projector', { from: width, to: projected });
  const mean = seen
    ? g.node('Div', [total(g, g.node('Mul', [steps, seen])), total(g, seen)])
    : g.node('ReduceMean', [steps, g.ints([1])], { keepdims: 0 });
  const logits = linear(g, mean, 'classifier', { from: projected, to: labels });
  g.output('logits', logits, 'float32', ['rows', labels]);
}

const total = (g: GraphWriter, x: Value): Value => g.node('ReduceSum', [x, g.ints([1])], { keepdims: 0 });

/** All states, each by its share of the softmax of learned weights. */
function weightedSum(g: GraphWriter, states: readonly Value[]): Value {
  const shares = g.node('Softmax', [g.weight('layer_weights', [states.length])], { axis: -1 });
  const column = g.node('Reshape', [shares, g.ints([-1, 1])]);
  const all = g.node(
    'Concat',
    states.map((x) => g.node('Unsqueeze', [x, g.ints([3])])),
    { axis: 3 },
  );
  return g.node('Squeeze', [g.node('MatMul', [all, column]), g.ints([3])]);
}
