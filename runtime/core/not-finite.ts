import { RunError } from './errors.js';

/** For what a model has computed that is no number: neither JSON nor a caller can do anything with it. */
export function notFiniteError(): RunError {
  return new RunError(
    'engine_failed',
    'the model computed values that are not finite (NaN or Infinity), so there is no answer: ' +
      'its weights are damaged, or numbers overflow at this dtype',
    { reason: 'not_finite' },
  );
}

/** @throws RunError engine_failed for NaN and both infinities */
export function requireFinite(values: Float32Array): Float32Array {
  for (let i = 0; i < values.length; i++) if (!isFinite(values[i]!)) throw notFiniteError();
  return values;
}

/**
 * As requireFinite, for scores before a softmax or sigmoid: there -Infinity is a mask and becomes 0.
 * @throws RunError engine_failed for NaN and Infinity
 */
export function requireLogits(logits: Float32Array): Float32Array {
  for (let i = 0; i < logits.length; i++) if (!(logits[i]! < Infinity)) throw notFiniteError();
  return logits;
}
