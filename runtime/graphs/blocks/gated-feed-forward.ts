import type { GraphWriter, Value } from '../graph-writer.js';
import { activation } from './activation.js';
import { linear } from './linear.js';

export interface GatedSize {
  width: number;
  inner: number;
  /** Activation of the gate. */
  act: string;
  bias?: boolean;
  /** Names of the layers. */
  names?: { gate: string; up: string; down: string };
}

const LLAMA = { gate: 'gate_proj', up: 'up_proj', down: 'down_proj' };

/** down(act(gate(x)) · up(x)) */
export function gatedFeedForward(
  g: GraphWriter,
  x: Value,
  at: (name: string) => string,
  { width, inner, act, bias = false, names = LLAMA }: GatedSize,
): Value {
  const wide = { from: width, to: inner, bias };
  const gate = activation(g, linear(g, x, at(names.gate), wide), act);
  const product = g.node('Mul', [gate, linear(g, x, at(names.up), wide)]);
  return linear(g, product, at(names.down), { from: inner, to: width, bias });
}
