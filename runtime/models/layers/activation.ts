import { float } from '../writer/attributes.js';
import { GraphError } from '../writer/errors.js';
import { type GraphWriter, MICROSOFT, type Value } from '../writer/graph-writer.js';

type Apply = (g: GraphWriter, x: Value) => Value;

const tanhGelu: Apply = (g, x) => g.node('Gelu', [x], { approximate: 'tanh' });
const sigmoidGelu =
  (alpha: number): Apply =>
  (g, x) =>
    g.node('QuickGelu', [x], { alpha: float(alpha) }, MICROSOFT);

/** Activations by their names in transformers' configurations (ACT2FN). */
const ACTIVATIONS: Readonly<Record<string, Apply>> = {
  gelu: (g, x) => g.node('Gelu', [x]),
  gelu_python: (g, x) => g.node('Gelu', [x]),
  gelu_new: tanhGelu,
  gelu_fast: tanhGelu,
  gelu_pytorch_tanh: tanhGelu,
  gelu_accurate: tanhGelu,
  quick_gelu: sigmoidGelu(1.702),
  silu: sigmoidGelu(1),
  swish: sigmoidGelu(1),
  relu: (g, x) => g.node('Relu', [x]),
  relu2: (g, x) => {
    const positive = g.node('Relu', [x]);
    return g.node('Mul', [positive, positive]);
  },
  relu6: (g, x) => g.node('Clip', [x, g.scalar(0), g.scalar(6)]),
  hard_swish: (g, x) => g.node('HardSwish', [x]),
  hard_sigmoid: (g, x) => g.node('HardSigmoid', [x], { alpha: float(1 / 6) }),
  sigmoid: (g, x) => g.node('Sigmoid', [x]),
  tanh: (g, x) => g.node('Tanh', [x]),
  mish: (g, x) => g.node('Mish', [x]),
  linear: (_, x) => x,
};

/** @param name as in config.json @throws GraphError for one that is not known */
export function activation(g: GraphWriter, x: Value, name: string): Value {
  const apply = Object.hasOwn(ACTIVATIONS, name) ? ACTIVATIONS[name] : undefined;
  if (!apply) throw new GraphError(`config.json names the activation ${name}, which is not known`);
  return apply(g, x);
}
