import { convolution } from '../layers/convolution.js';
import { squeezeExcitation } from '../layers/squeeze-excitation.js';
import { GraphError } from '../writer/errors.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { type Channels, shapeOf } from './config.js';

/** Channels scaled by what their means say: timm's SEModule, or its EcaModule, where only neighbours count. */
export function channelScale(g: GraphWriter, { x, width }: Channels, name: string): Value {
  if (g.weights.has(`${name}.conv.weight`)) return byNeighbours(g, x, `${name}.conv`);
  if (!g.weights.has(`${name}.fc1.weight`)) return x;
  if (g.weights.has(`${name}.bn.weight`))
    throw new GraphError(`no graph can be written for ${name}.bn, a norm that is not known here`);
  const [inner] = shapeOf(g, `${name}.fc1.weight`, 4);
  return squeezeExcitation(g, x, { narrow: `${name}.fc1`, wide: `${name}.fc2`, width, inner, act: 'relu' });
}

function byNeighbours(g: GraphWriter, x: Value, name: string): Value {
  const [, , kernel] = shapeOf(g, `${name}.weight`, 3);
  const mean = g.node('Reshape', [g.node('GlobalAveragePool', [x]), g.ints([0, 1, -1])]);
  const size = { from: 1, to: 1, kernel: [kernel], padding: [Math.floor(kernel / 2)], bias: false };
  const gate = g.node('Sigmoid', [convolution(g, mean, name, size)]);
  return g.node('Mul', [x, g.node('Reshape', [gate, g.ints([0, -1, 1, 1])])]);
}
