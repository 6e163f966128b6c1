/** Softmax, in single precision as Python's, summed in double. */
export function probabilities(logits: Float32Array): Float32Array {
  let max = -Infinity;
  for (const logit of logits) if (logit > max) max = logit;
  const scores = new Float64Array(logits.length);
  let sum = 0;
  for (let i = 0; i < logits.length; i++) sum += scores[i] = Math.exp(logits[i]! - max);
  return Float32Array.from(scores, (score) => score / sum);
}
