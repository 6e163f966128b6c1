import type { GraphWriter, Value } from '../writer/graph-writer.js';

/** torch has input, forget, cell and output gates, ONNX input, output, forget and cell gates. */
const ORDER = [0, 3, 1, 2];

/**
 * torch's LSTM over whole sequences, its layers one after the other: float32 [steps, rows, width] of both.
 * @param name of the module, whose weights are `weight_ih_l0`, …
 */
export function lstm(
  g: GraphWriter,
  x: Value,
  name: string,
  { width, layers }: { width: number; layers: number },
): Value {
  const gates = (tensor: string, shape: readonly number[]) => {
    const parts = g.nodes('Split', [g.weight(`${name}.${tensor}`, shape), g.ints(ORDER.map(() => width))], {
      ...{ outputs: ORDER.length, attributes: { axis: 0 } },
    });
    return g.node(
      'Concat',
      ORDER.map((gate) => parts[gate]!),
      { axis: 0 },
    );
  };
  const one = (value: Value) => g.node('Unsqueeze', [value, g.ints([0])]);
  let found = x;
  for (let i = 0; i < layers; i++) {
    const [input, state] = ['ih', 'hh'].map((kind) => one(gates(`weight_${kind}_l${i}`, [4 * width, width])));
    const biases = ['ih', 'hh'].map((kind) => gates(`bias_${kind}_l${i}`, [4 * width]));
    const bias = one(g.node('Concat', biases, { axis: 0 }));
    const given = g.node('LSTM', [found, input!, state!, bias], { hidden_size: width });
    found = g.node('Squeeze', [given, g.ints([1])]);
  }
  return found;
}
