import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { activation } from './activation.js';
import { linear } from './linear.js';

export interface GatedSize {
  width: number;
  inner: number;
  /** Activation of the gate. */
  act: string;
  bias?: boolean;
  /** Gate and up are one layer, `gate_up_proj`. */
  fused?: boolean;
  /** Names of the layers. */
  names?: { gate: string; up: string; down: string };
}

const LLAMA = { gate: 'gate_proj', up: 'up_proj', down: 'down_proj' };

type At = (name: string) => string;

/** down(act(gate(x)) · up(x)) */
export const gatedFeedForward = (g: GraphWriter, x: Value, at: At, size: GatedSize): Value =>
  projectedDown(g, gatedProduct(g, gateAndUp(g, x, at, size), size), at, size);

/** gate(x) and up(x), float32 [..., inner] each, or both as one [..., 2 · inner] where they are one layer. */
export function gateAndUp(g: GraphWriter, x: Value, at: At, size: GatedSize): Value[] {
  const { width, inner, bias = false, fused = false, names = LLAMA } = size;
  const wide = (name: string, to: number) => linear(g, x, at(name), { from: width, to, bias });
  return fused ? [wide('gate_up_proj', 2 * inner)] : [wide(names.gate, inner), wide(names.up, inner)];
}

/** act(gate) · up: float32 [..., inner] */
export function gatedProduct(g: GraphWriter, wide: readonly Value[], size: GatedSize): Value {
  const [gate, up] = wide as [Value, Value | undefined];
  return up === undefined ? gated(g, gate, size) : g.node('Mul', [activation(g, gate, size.act), up]);
}

/** float32 [..., inner] -> [..., width] */
export const projectedDown = (
  g: GraphWriter,
  x: Value,
  at: At,
  { width, inner, bias = false, names = LLAMA }: GatedSize,
): Value => linear(g, x, at(names.down), { from: inner, to: width, bias });

export interface HalvesSize {
  width: number;
  inner: number;
  act: string;
  bias: boolean;
}

/** down(act(first half of `both`) · second half), where gate and up are one layer. */
export function gatedHalves(
  g: GraphWriter,
  x: Value,
  names: { both: string; down: string },
  { width, inner, act, bias }: HalvesSize,
): Value {
  const both = linear(g, x, names.both, { from: width, to: 2 * inner, bias });
  return linear(g, gated(g, both, { inner, act }), names.down, { from: inner, to: width, bias });
}

/** act(first half) · second half, of float32 [..., 2 · inner]. */
export function gated(g: GraphWriter, both: Value, { inner, act }: Pick<HalvesSize, 'inner' | 'act'>): Value {
  const [gate, up] = g.nodes('Split', [both, g.ints([inner, inner])], {
    ...{ outputs: 2, attributes: { axis: -1 } },
  }) as [Value, Value];
  return g.node('Mul', [activation(g, gate, act), up]);
}
