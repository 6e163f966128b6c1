import { sigmoid } from '../../boxes.js';

/**
 * Places of queries in reading order, by the votes of all pairs (PP-DocLayoutV2 and V3).
 * @param logits [queries, queries]: above the diagonal, whether the second of a pair is read behind the first
 */
export function placesByVotes(logits: Float32Array, queries: number): Int32Array {
  const votes = new Float32Array(queries);
  for (let first = 0; first < queries; first++) {
    for (let second = first + 1; second < queries; second++) {
      const vote = sigmoid(logits[first * queries + second]!);
      votes[second]! += vote;
      votes[first]! += Math.fround(1 - vote);
    }
  }
  const order = Array.from(votes, (_, query) => query).sort((a, b) => votes[a]! - votes[b]!);
  const places = new Int32Array(queries);
  order.forEach((query, place) => (places[query] = place));
  return places;
}
