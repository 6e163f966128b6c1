import { float } from '../writer/attributes.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { activation } from './activation.js';
import { linear } from './linear.js';

/** What a vector of the whole makes of tokens: diffusers' adaptive norms. */

export interface Modulation {
  /** float32 [rows or 1, from]: what is known of the time and the text. */
  states: Value;
  from: number;
  /** Of the tokens. */
  width: number;
}

/** So many vectors, float32 [rows or 1, 1, width], of `name`.linear. */
export function modulations(
  g: GraphWriter,
  name: string,
  { states, from, width }: Modulation,
  count: number,
): Value[] {
  const read = g.once(`silu ${states}`, () => activation(g, states, 'silu'));
  const all = linear(g, read, `${name}.linear`, { from, to: count * width });
  const parts = g.node('Unsqueeze', [all, g.ints([1])]);
  const sizes = g.ints(Array<number>(count).fill(width));
  return g.nodes('Split', [parts, sizes], { outputs: count, attributes: { axis: 2 } });
}

const EPSILON = 1e-6;

/** A LayerNorm that has learned nothing. */
export function plainNorm(g: GraphWriter, x: Value, width: number): Value {
  const ones = g.floats(new Float32Array(width).fill(1));
  return g.node('LayerNormalization', [x, ones], { axis: -1, epsilon: float(EPSILON) });
}

/** x · (1 + scale) + shift */
export function modulated(g: GraphWriter, x: Value, { scale, shift }: { scale: Value; shift: Value }): Value {
  return g.node('Add', [g.node('Mul', [x, g.node('Add', [scale, g.scalar(1)])]), shift]);
}

/** diffusers' AdaLayerNormContinuous, whose norm has learned nothing. */
export function modulatedNorm(g: GraphWriter, x: Value, name: string, by: Modulation): Value {
  const [scale, shift] = modulations(g, name, by, 2) as [Value, Value];
  return modulated(g, plainNorm(g, x, by.width), { scale, shift });
}
