import type { Piece } from './model-file.js';

type Merge = [left: string, right: string];

interface Candidate {
  pair: Merge;
  score: number;
  /** Ids of both sides. */
  order: [number, number];
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
  const cutsOf = createCuts(ids.keys(), ids.size);
  const found: Candidate[] = [];
  for (const [text, score] of scores) {
    const cuts = cutsOf(text);
    if (cuts.length > 0) found.push(...waysTo({ text, score, cuts }, ids));
  }
  return found.sort(likelierFirst).map(({ pair }) => pair);
}

function waysTo(
  { text, score, cuts }: { text: string; score: number; cuts: readonly number[] },
  ids: ReadonlyMap<string, number | null>,
): Candidate[] {
  const ways: Candidate[] = [];
  for (const at of cuts) {
    const [left, right] = [text.slice(0, at), text.slice(at)];
    const [leftId, rightId] = [ids.get(left), ids.get(right)];
    if (leftId === undefined || rightId === undefined) continue;
    ways.push({ pair: [left, right], score, order: [leftId ?? 0, rightId ?? 0] });
  }
  return ways.length < 2 ? ways : ways.sort((a, b) => a.order[0] - b.order[0] || a.order[1] - b.order[1]);
}

function likelierFirst(a: Candidate, b: Candidate): number {
  if (a.score !== b.score) return b.score - a.score;
  const [length, other] = [0, 1].map((side) => codePoints(b.pair[side]!) - codePoints(a.pair[side]!));
  return length! || other!;
}

function codePoints(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at++) if (!isLow(text.charCodeAt(at))) count++;
  return count;
}

/** Bits of the filter for each piece: one in so many cuts is taken for one by mistake. */
const SPARSE = 16;
const FACTOR = 0x01000193;

/**
 * Places where both sides of a text may be pieces, found by their sums alone: a vocabulary of 256,000 pieces has millions of
 * places, and a string for each would take seconds. Some that it gives are none.
 */
function createCuts(pieces: Iterable<string>, count: number): (text: string) => readonly number[] {
  const bits = Math.ceil(Math.log2(Math.max(count, 1) * SPARSE));
  const filter = new Uint8Array(Math.ceil(2 ** bits / 8));
  const placeOf = (sum: number): number => Math.imul(sum ^ (sum >>> 15), 0x2c1b3c6d) >>> (32 - bits);
  for (const piece of pieces) {
    const place = placeOf(sumOf(piece));
    filter[place >> 3]! |= 1 << (place & 7);
  }
  const mayBePiece = (sum: number): boolean => {
    const place = placeOf(sum);
    return (filter[place >> 3]! & (1 << (place & 7))) !== 0;
  };
  return (text) => {
    const whole = sumOf(text);
    const cuts: number[] = [];
    let left = 0;
    // What the left side is multiplied with in the whole's sum.
    let power = powerOf(text.length);
    for (let at = 1; at < text.length; at++) {
      left = add(left, text.charCodeAt(at - 1));
      power = Math.imul(power, INVERSE);
      if (!mayBePiece(left) || isLow(text.charCodeAt(at))) continue;
      if (mayBePiece((whole - Math.imul(left, power)) | 0)) cuts.push(at);
    }
    return cuts;
  };
}

/** Of FACTOR, in arithmetic of 32 bits. */
const INVERSE = 0x359c449b;

const add = (sum: number, unit: number): number => (Math.imul(sum, FACTOR) + unit + 1) | 0;

function sumOf(text: string): number {
  let sum = 0;
  for (let at = 0; at < text.length; at++) sum = add(sum, text.charCodeAt(at));
  return sum;
}

function powerOf(exponent: number): number {
  let power = 1;
  for (let i = 0; i < exponent; i++) power = Math.imul(power, FACTOR);
  return power;
}

/** The second half of a code point that takes two. */
const isLow = (unit: number): boolean => (unit & 0xfc00) === 0xdc00;
