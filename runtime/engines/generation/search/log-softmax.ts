/** Log-probabilities of scores, as a new array. */
export function logSoftmax(scores: Float32Array): Float32Array {
  const shift = logSumExp(scores);
  return scores.map((value) => value - shift);
}

export function logSumExp(scores: Float32Array): number {
  let max = -Infinity;
  for (const value of scores) if (value > max) max = value;
  let sum = 0;
  for (const value of scores) sum += Math.exp(value - max);
  return max + Math.log(sum);
}
