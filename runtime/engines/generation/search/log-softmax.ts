/** Log-probabilities of scores, as a new array. */
export function logSoftmax(scores: Float32Array): Float32Array {
  let max = -Infinity;
  for (const value of scores) if (value > max) max = value;
  let sum = 0;
  for (const value of scores) sum += Math.exp(value - max);
  const shift = max + Math.log(sum);
  return scores.map((value) => value - shift);
}
