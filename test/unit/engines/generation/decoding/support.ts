import type { Decoding } from '../../../../../runtime/engines/generation/decoding/decoder.js';

/** Scores of three rows that go on from one text, each its own way; ends the decoding. */
export async function branched(decoding: Decoding, prompt: number[]): Promise<number[][]> {
  await decoding.prefill({ tokens: prompt });
  decoding.reorder([0, 0, 0]);
  await decoding.step([5, 6, 7]);
  decoding.reorder([2, 2, 0]);
  const scores = await decoding.step([8, 9, 10]);
  decoding.end();
  return scores.map((row) => Array.from(row));
}

/** The same rows of scores, but for another order of summation. */
export function expectSameScores(found: number[][], expected: number[][]): void {
  expect(found.map(({ length }) => length)).toEqual(expected.map(({ length }) => length));
  found.forEach((row, i) => row.forEach((score, id) => expect(score).toBeCloseTo(expected[i]![id]!, 4)));
}
