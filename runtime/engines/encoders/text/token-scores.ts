export interface TokenScore {
  id: number;
  score: number;
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
