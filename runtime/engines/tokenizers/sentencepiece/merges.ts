import type { Piece } from './model-file.js';

type Merge = [left: string, right: string];

interface Candidate {
  pair: Merge;
  score: number;
  /** Code points of either side. */
  lengths: [number, number];
}

/**
 * The merges of a BPE model, which sentencepiece doesn't store: every way to put a piece together of two others, the
 * likeliest pieces first (generate_merges of convert_slow_tokenizer.py).
 * @param rows pieces of tokenizer.json with their scores
 * @param ids pieces that may be a part, by their ids; null: known, but without an id
 */
export function mergesOf(
  rows: readonly Pick<Piece, 'text' | 'score'>[],
  ids: ReadonlyMap<string, number | null>,
): Merge[] {
  const scores = new Map(rows.map(({ text, score }) => [text, score]));
  const found = [...scores].flatMap(([text, score]) => waysTo(text, score, ids));
  return found.sort(likelierFirst).map(({ pair }) => pair);
}

function waysTo(text: string, score: number, ids: ReadonlyMap<string, number | null>): Candidate[] {
  const chars = Array.from(text);
  const ways: (Candidate & { order: [number, number] })[] = [];
  for (let at = 0, cut = 1; cut < chars.length; cut++) {
    at += chars[cut - 1]!.length;
    const pair: Merge = [text.slice(0, at), text.slice(at)];
    const [left, right] = pair.map((part) => ids.get(part));
    if (left === undefined || right === undefined) continue;
    ways.push({ pair, score, lengths: [cut, chars.length - cut], order: [left ?? 0, right ?? 0] });
  }
  return ways.sort((a, b) => a.order[0] - b.order[0] || a.order[1] - b.order[1]);
}

function likelierFirst(a: Candidate, b: Candidate): number {
  return b.score - a.score || b.lengths[0] - a.lengths[0] || b.lengths[1] - a.lengths[1];
}
