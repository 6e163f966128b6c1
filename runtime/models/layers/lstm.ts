import type { GraphWriter, Value } from '../writer/graph-writer.js';

/** torch has input, forget, cell and output gates, ONNX input, output, forget and cell gates. */
const ORDER = [0, 3, 1, 2];

interface LstmLayer {
  input: Value;
  state: Value;
  bias: Value;
}

/** Weights of a layer, as ONNX has them. */
function lstmLayer(
  g: GraphWriter,
  name: string,
  { width, index }: { width: number; index: number },
): LstmLayer {
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
  const [input, state] = ['ih', 'hh'].map((kind) =>
    one(gates(`weight_${kind}_l${index}`, [4 * width, width])),
  );
  const biases = ['ih', 'hh'].map((kind) => gates(`bias_${kind}_l${index}`, [4 * width]));
  return { input: input!, state: state!, bias: one(g.node('Concat', biases, { axis: 0 })) };
}

export interface LstmSize {
  width: number;
  layers: number;
}

/**
 * torch's LSTM over whole sequences, its layers one after the other: float32 [steps, rows, width] of both.
 * @param name of the module, whose weights are `weight_ih_l0`, …
 */
export function lstm(g: GraphWriter, x: Value, name: string, { width, layers }: LstmSize): Value {
  let found = x;
  for (let index = 0; index < layers; index++) {
    const { input, state, bias } = lstmLayer(g, name, { width, index });
    const given = g.node('LSTM', [found, input, state, bias], { hidden_size: width });
    found = g.node('Squeeze', [given, g.ints([1])]);
  }
  return found;
}

/** States of an LSTM: what its layers gave last, and what they keep, float32 [layers, rows, width] each. */
export interface LstmState {
  hidden: Value;
  cell: Value;
}

/**
 * The same, step by step: weights are made ready once, outside of what repeats.
 * @returns what a step [1, rows, width] makes of the states before it; the last layer's answer is the last of `hidden`
 */
export function lstmSteps(
  g: GraphWriter,
  name: string,
  { width, layers }: LstmSize,
): (x: Value, before: LstmState) => LstmState {
  const weights = Array.from({ length: layers }, (_, index) => lstmLayer(g, name, { width, index }));
  const ones = Array.from({ length: layers }, () => 1);
  const parts = (x: Value) =>
    g.nodes('Split', [x, g.ints(ones)], { outputs: layers, attributes: { axis: 0 } });
  return (x, before) => {
    const [hidden, cell] = [parts(before.hidden), parts(before.cell)];
    const found: LstmState[] = [];
    weights.forEach(({ input, state, bias }, i) => {
      const inputs = [found.at(-1)?.hidden ?? x, input, state, bias, '', hidden[i]!, cell[i]!];
      const [, last, kept] = g.nodes('LSTM', inputs, { outputs: 3, attributes: { hidden_size: width } });
      found.push({ hidden: last!, cell: kept! });
    });
    const joined = (part: keyof LstmState) =>
      g.node(
        'Concat',
        found.map((one) => one[part]),
        { axis: 0 },
      );
    return { hidden: joined('hidden'), cell: joined('cell') };
  };
}
