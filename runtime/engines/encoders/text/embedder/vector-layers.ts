import { RunError } from '../../../../core/errors.js';
import { type Json, readJson } from '../../../repository/model-folder.js';
import { readTensors } from '../../../repository/tensors.js';

/** One step from pooled vector to sentence vector. */
export type VectorStep = (vector: Float32Array) => Float32Array;

/** sentence-transformers' Dense: y = activation(W x + b), W as [out x in]. */
export async function readDense(dir: string, path: string): Promise<VectorStep> {
  const config = await readJson(dir, `${path}/config.json`);
  const input = config['module_input_name'] ?? 'sentence_embedding';
  if (input !== 'sentence_embedding') {
    throw new RunError('not_ready', `${path}: a Dense layer over ${String(input)} is not supported`);
  }
  const activation = activationOf(config);
  const tensors = await readTensors(dir, path);
  const weight = tensors.get('linear.weight');
  if (!weight) throw new RunError('not_ready', `the weights of ${path} hold no linear.weight`);
  const bias = tensors.get('linear.bias');
  return (vector) => {
    const width = vector.length;
    return Float32Array.from({ length: weight.length / width }, (_, out) => {
      let sum = bias?.[out] ?? 0;
      for (let i = 0; i < width; i++) sum += weight[out * width + i]! * vector[i]!;
      return activation(sum);
    });
  };
}

/** sentence-transformers' LayerNorm, with PyTorch's epsilon. */
export async function readLayerNorm(dir: string, path: string): Promise<VectorStep> {
  const tensors = await readTensors(dir, path);
  const [weight, bias] = [tensors.get('norm.weight'), tensors.get('norm.bias')];
  if (!weight || !bias) throw new RunError('not_ready', `the weights of ${path} hold no norm`);
  return (vector) => {
    const mean = vector.reduce((sum, value) => sum + value, 0) / vector.length;
    const variance = vector.reduce((sum, value) => sum + (value - mean) ** 2, 0) / vector.length;
    const scale = 1 / Math.sqrt(variance + 1e-5);
    return vector.map((value, i) => (value - mean) * scale * weight[i]! + bias[i]!);
  };
}

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));
const hardSigmoid = (x: number): number => Math.min(1, Math.max(0, x / 6 + 0.5));
const softplus = (x: number): number => (x > 20 ? x : Math.log1p(Math.exp(x)));

const ACTIVATIONS: Record<string, (x: number) => number> = {
  Tanh: Math.tanh,
  Identity: (x) => x,
  ReLU: (x) => Math.max(0, x),
  ReLU6: (x) => Math.min(6, Math.max(0, x)),
  LeakyReLU: (x) => (x < 0 ? 0.01 * x : x),
  ELU: (x) => (x < 0 ? Math.expm1(x) : x),
  Sigmoid: sigmoid,
  SiLU: (x) => x * sigmoid(x),
  Softplus: softplus,
  Mish: (x) => x * Math.tanh(softplus(x)),
  GELU: (x) => 0.5 * x * (1 + erf(x / Math.SQRT2)),
  SELU: (x) => 1.0507009873554805 * (x < 0 ? 1.6732632423543772 * Math.expm1(x) : x),
  CELU: (x) => (x < 0 ? Math.expm1(x) : x),
  LogSigmoid: (x) => -softplus(-x),
  Softsign: (x) => x / (1 + Math.abs(x)),
  Tanhshrink: (x) => x - Math.tanh(x),
  Hardtanh: (x) => Math.min(1, Math.max(-1, x)),
  Hardsigmoid: (x) => hardSigmoid(x),
  Hardswish: (x) => x * hardSigmoid(x),
};

/** Only PyTorch's own classes are trusted; for others sentence-transformers takes its default. */
function activationOf(config: Json): (x: number) => number {
  const path = String(config['activation_function'] ?? '');
  const name = path.startsWith('torch.') ? path.split('.').at(-1)! : 'Tanh';
  const activation = ACTIVATIONS[name];
  if (activation) return activation;
  throw new RunError('not_ready', `the Dense layer's activation ${name} is not supported`);
}

/** The error function: its series near zero, its continued fraction far from it. */
export function erf(x: number): number {
  const a = Math.abs(x);
  if (a > 6) return Math.sign(x);
  if (a < 2.5) {
    let term = a;
    let sum = a;
    for (let n = 1; Math.abs(term) > 1e-17 * Math.abs(sum); n++) {
      term *= -(a * a) / n;
      sum += term / (2 * n + 1);
      if (term === 0) break;
    }
    return (Math.sign(x) * 2 * sum) / Math.sqrt(Math.PI);
  }
  let fraction = 0;
  for (let n = 60; n > 0; n--) fraction = n / 2 / (a + fraction);
  return Math.sign(x) * (1 - Math.exp(-a * a) / (Math.sqrt(Math.PI) * (a + fraction)));
}
