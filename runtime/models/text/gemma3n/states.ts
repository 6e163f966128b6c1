import { linear, matMulTransposed } from '../../layers/linear.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import type { Layer } from './config.js';
import { normed, times } from './norm.js';

/** One of the states that stand side by side: float32 [rows, tokens, width] of [rows, tokens, count, width]. */
export const one = (g: GraphWriter, all: Value, i: number): Value =>
  g.node('Gather', [all, g.ints([i], [])], { axis: 2 });

/** How the states mix, float32 [rows, tokens, count], by one of them. */
function modalities(g: GraphWriter, x: Value, { c, at }: Layer): Value {
  const { hidden_size: width, altup_num_inputs: states } = c;
  const read = times(g, normed(g, x, at('altup.router_norm'), c), 1 / width);
  const size = { from: width, to: states, bias: false, isExact: true };
  return g.node('Tanh', [linear(g, read, at('altup.modality_router'), size)]);
}

/** What a layer's states would be without it: a mix of those before it. */
export function predicted(g: GraphWriter, states: Value, of: Layer): Value {
  const { altup_num_inputs: n, altup_active_idx: active } = of.c;
  const size = { from: n, to: n * n, bias: false, isExact: true };
  const mix = linear(g, modalities(g, one(g, states, active), of), of.at('altup.prediction_coefs'), size);
  const matrix = g.node('Reshape', [mix, g.ints([0, 0, n, n])]);
  return g.node('Add', [g.node('MatMul', [matrix, states]), states]);
}

/** All states, moved by what the layer has made of one of them. */
export function corrected(
  g: GraphWriter,
  { prediction, found }: { prediction: Value; found: Value },
  of: Layer,
): Value {
  const { altup_num_inputs: n, altup_active_idx: active, altup_coef_clip: clip } = of.c;
  const stored = g.weight(of.at('altup.correction_coefs.weight'), [n, n]);
  const bounded = clip === null ? stored : g.node('Clip', [stored, g.scalar(-clip), g.scalar(clip)]);
  const mix = g.node('Add', [matMulTransposed(g, modalities(g, found, of), bounded), g.scalar(1)]);
  const news = g.node('Sub', [found, one(g, prediction, active)]);
  const parts = g.node('Mul', [
    g.node('Unsqueeze', [news, g.ints([2])]),
    g.node('Unsqueeze', [mix, g.ints([3])]),
  ]);
  return g.node('Add', [prediction, parts]);
}

/** Least mean square of a state. */
const LEAST = 1e-5;

/** A projection of a state, made as long as another one. */
export function alike(
  g: GraphWriter,
  x: Value,
  name: string,
  { like, width }: { like: Value; width: number },
): Value {
  const square = (value: Value) =>
    g.node('ReduceMean', [g.node('Mul', [value, value]), g.ints([-1])], { keepdims: 1 });
  const found = linear(g, x, name, { from: width, to: width, bias: false });
  const length = g.node('Sqrt', [g.node('Max', [square(found), g.scalar(LEAST)])]);
  return g.node('Div', [g.node('Mul', [found, g.node('Sqrt', [square(like)])]), length]);
}
