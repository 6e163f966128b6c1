import { float } from '../attributes.js';
import { type GraphWriter, MICROSOFT, type Value } from '../graph-writer.js';

/** Sizes of a linear layer: what comes in, and what goes out. */
export interface LinearSize {
  from: number;
  to: number;
}

export interface LinearOptions extends LinearSize {
  /** False where the layer has no bias; `if present` where repositories differ. */
  bias?: boolean | 'if present';
}

/**
 * torch's Linear, whose weight is [to, from]: read in place, without a transposed copy.
 * @param x float32 [..., from]
 * @returns float32 [..., to]
 */
export function linear(
  g: GraphWriter,
  x: Value,
  name: string,
  { from, to, bias = true }: LinearOptions,
): Value {
  const product = matMulTransposed(g, x, g.weight(`${name}.weight`, [to, from]));
  const has = bias === 'if present' ? g.weights.has(`${name}.bias`) : bias;
  return has ? g.node('Add', [product, g.weight(`${name}.bias`, [to])]) : product;
}

/** `scale` x · yᵀ over the last two axes. */
export function matMulTransposed(g: GraphWriter, x: Value, y: Value, scale = 1): Value {
  return g.node('FusedMatMul', [x, y], { transB: 1, alpha: float(scale) }, MICROSOFT);
}

export interface TableSize {
  rows: number;
  width: number;
  /** True where the scores are made with the table of the tokens; a file may hold the scores' own all the same. */
  tie: boolean;
}

/** Scores over a vocabulary: x · tableᵀ, float32 [..., rows]. */
export function tableScores(
  g: GraphWriter,
  x: Value,
  { own, tied }: { own: string; tied: string },
  { rows, width, tie }: TableSize,
): Value {
  const name = tie ? tied : own;
  return matMulTransposed(g, x, g.weight(name, [rows, width]));
}

/** GPT-2's Conv1D, whose weight is [from, to]. */
export function conv1d(g: GraphWriter, x: Value, name: string, { from, to }: LinearSize): Value {
  const product = g.node('MatMul', [x, g.weight(`${name}.weight`, [from, to])]);
  return g.node('Add', [product, g.weight(`${name}.bias`, [to])]);
}

/** Rows of the table at these ids: int64 [...] -> float32 [..., width]. */
export function embedding(
  g: GraphWriter,
  ids: Value,
  name: string,
  { rows, width }: { rows: number; width: number },
): Value {
  return g.node('Gather', [g.weight(`${name}.weight`, [rows, width]), ids]);
}
