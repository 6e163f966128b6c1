import { RunError } from '../../../core/errors.js';
import ort from 'onnxruntime-node';
import type { Tensor } from 'onnxruntime-node';
import { rawFloats } from '../../sessions/tensors.js';

/** A tensor whose row i is row `from[i]` of the given one. */
export function gatherRows(tensor: Tensor, from: readonly number[]): Tensor {
  const [, ...rest] = tensor.dims;
  const size = rest.reduce((a, b) => a * b, 1);
  const source = tensor.data as Float32Array;
  const target = new (source.constructor as typeof Float32Array)(from.length * size);
  from.forEach((row, i) => target.set(source.subarray(row * size, (row + 1) * size), i * size));
  return new ort.Tensor(tensor.type as 'float32', target, [from.length, ...rest]);
}

/** Scores [1, tokens, vocabulary] after each token, unchecked: views, which the caller may change. */
export function scoresOfTokens(logits: Tensor): Float32Array[] {
  const [, tokens, vocabulary] = logits.dims as [number, number, number];
  const values = rawFloats(logits);
  return Array.from({ length: tokens }, (_, i) => values.subarray(i * vocabulary, (i + 1) * vocabulary));
}

/** @throws RunError 422 for scores of fewer tokens than were fed */
export function requireAll(scores: Float32Array[] | undefined, fed: number): Float32Array[] {
  if (scores?.length === fed) return scores;
  throw new RunError(
    'unprocessable',
    'params.prompt_logprobs: the graph of this model gives probabilities after the whole prompt only',
  );
}

/** Scores [rows, tokens, vocabulary] after the last token, unchecked, one array per row: views, which the caller may change. */
export function lastScores(logits: Tensor): Float32Array[] {
  const [rows, tokens, vocabulary] = logits.dims as [number, number, number];
  const values = rawFloats(logits);
  return Array.from({ length: rows }, (_, row) => {
    const start = ((row + 1) * tokens - 1) * vocabulary;
    return values.subarray(start, start + vocabulary);
  });
}
