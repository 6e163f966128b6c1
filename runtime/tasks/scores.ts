import type { Classification } from '../core/handles/index.js';
import { notFiniteError } from '../core/not-finite.js';

export type ScoreFunction = 'softmax' | 'sigmoid' | 'none';

/** As in Python (TextClassificationPipeline): none for regression, sigmoid for multi-label, else softmax. */
export function defaultFunction(result: Classification): ScoreFunction {
  if (result.problem === 'regression') return 'none';
  return result.problem === 'multi_label' || result.logits.length === 1 ? 'sigmoid' : 'softmax';
}

/** Numerically stable softmax in double precision. */
export function softmax(logits: ArrayLike<number>): number[] {
  let max = -Infinity;
  for (let i = 0; i < logits.length; i++) max = Math.max(max, logits[i]!);
  const exp = Array.from(logits, (logit) => Math.exp(logit - max));
  const sum = exp.reduce((a, b) => a + b, 0);
  return exp.map((value) => value / sum);
}

function scoresOf(logits: Float32Array, how: ScoreFunction): number[] {
  if (how === 'softmax') return softmax(logits);
  if (how === 'sigmoid') return Array.from(logits, (logit) => 1 / (1 + Math.exp(-logit)));
  return Array.from(logits);
}

/** A number for JSON, which has no other. @throws RunError engine_failed for NaN and the infinities */
export function finite(value: number): number {
  if (Number.isFinite(value)) return value;
  throw notFiniteError();
}

/** A vector for JSON. Uses indexes, because Array.from(vector, …) with its iterator is six times as slow. */
export function finiteList(vector: Float32Array): number[] {
  const list = new Array<number>(vector.length);
  for (let i = 0; i < vector.length; i++) list[i] = finite(vector[i]!);
  return list;
}

export interface LabelScore {
  label: string;
  score: number;
}

/** Labels with scores, best first; ties keep the model's order, as a stable sort does in Python. */
export function ranked(result: Classification, how: ScoreFunction, limit: number | null): LabelScore[] {
  // Single precision, as in Python: otherwise the order of equal scores would differ.
  const rows = scoresOf(result.logits, how).map((score, i) => ({
    label: result.labels[i] ?? `LABEL_${i}`,
    score: Math.fround(score),
  }));
  rows.sort((a, b) => b.score - a.score);
  return rows.slice(0, limit ?? rows.length).map((row) => ({ label: row.label, score: finite(row.score) }));
}
