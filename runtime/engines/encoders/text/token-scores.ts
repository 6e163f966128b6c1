export interface TokenScore {
  id: number;
  score: number;
}

/** Softmax over a vocabulary, in single precision as Python's, summed in double. */
export function probabilities(logits: Float32Array): Float32Array {
  let max = -Infinity;
  for (const logit of logits) if (logit > max) max = logit;
  const scores = new Float64Array(logits.length);
  let sum = 0;
  for (let i = 0; i < logits.length; i++) sum += scores[i] = Math.exp(logits[i]! - max);
  return Float32Array.from(scores, (score) => score / sum);
}

/** The `count` best of the candidates (of all where none are named), best first; of equals, the earlier one. */
export function topScores(scores: Float32Array, count: number, candidates?: readonly number[]): TokenScore[] {
  const ids = candidates ?? scores.keys();
  if (count > 64) {
    return Array.from(ids, (id) => ({ id, score: scores[id]! }))
      .sort((a, b) => b.score - a.score)
      .slice(0, count);
  }
  const top: TokenScore[] = [];
  for (const id of ids) {
    const score = scores[id]!;
    if (top.length === count && !(score > top[count - 1]!.score)) continue;
    let at = top.length;
    while (at > 0 && score > top[at - 1]!.score) at--;
    top.splice(at, 0, { id, score });
    if (top.length > count) top.pop();
  }
  return top;
}
