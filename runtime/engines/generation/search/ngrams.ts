import type { LogitsProcessor } from './logits-processor.js';

/** Bans each token that would complete an n-gram that the sequence already holds. */
export function noRepeatNgram(size: number): LogitsProcessor {
  return (scores, ids) => {
    if (ids.length + 1 >= size) banFollowers(scores, tailOf(ids, size - 1), ids);
  };
}

/** Bans each token that would complete an n-gram of the text that the encoder has read. */
export function encoderNoRepeatNgram(size: number, source: readonly number[]): LogitsProcessor {
  return (scores, ids) => {
    if (ids.length + 1 >= size) banFollowers(scores, tailOf(ids, size - 1), source);
  };
}

function tailOf(ids: ArrayLike<number>, length: number): Int32Array {
  const tail = new Int32Array(length);
  for (let i = 0; i < length; i++) tail[i] = ids[ids.length - length + i]!;
  return tail;
}

/** Bans what follows the pattern wherever it stands in `ids` (Knuth, Morris and Pratt: linear whatever repeats). */
function banFollowers(scores: Float32Array, pattern: Int32Array, ids: ArrayLike<number>): void {
  const borders = bordersOf(pattern);
  let matched = 0;
  for (let i = 0; i < ids.length; i++) {
    const id = ids[i]!;
    if (matched === pattern.length) {
      if (id < scores.length) scores[id] = -Infinity;
      if (matched === 0) continue;
      matched = borders[matched - 1]!;
    }
    while (matched > 0 && pattern[matched] !== id) matched = borders[matched - 1]!;
    if (pattern[matched] === id) matched++;
  }
}

/** For each beginning of the pattern, the length of its longest proper beginning that is also its end. */
function bordersOf(pattern: Int32Array): Int32Array {
  const borders = new Int32Array(pattern.length);
  let length = 0;
  for (let i = 1; i < pattern.length; i++) {
    while (length > 0 && pattern[i] !== pattern[length]) length = borders[length - 1]!;
    if (pattern[i] === pattern[length]) length++;
    borders[i] = length;
  }
  return borders;
}
