/**
 * Changes one row of scores in place before a token is chosen. `ids` is the whole sequence so far, prompt included; all
 * rows that one processor sees have the same prompt. Called for every token: work that the prompt alone decides is done
 * once. `beam` is the rank of the row in a beam search, and 0 elsewhere.
 */
export type LogitsProcessor = (scores: Float32Array, ids: ArrayLike<number>, beam: number) => void;

export function banTokens(scores: Float32Array, ids: Iterable<number>): void {
  for (const id of ids) if (id < scores.length) scores[id] = -Infinity;
}
