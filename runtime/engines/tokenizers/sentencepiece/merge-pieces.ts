import { findPrefixes } from '../unigram.js';
import { createAgenda } from './agenda.js';
import { PIECE, type SentencePieceModel } from './model-file.js';

/** A part of a text, and whether it is a piece of the model. */
export interface Cut {
  text: string;
  known: boolean;
}

/**
 * Cuts normalised texts as a BPE model of sentencepiece does: neighbours are merged, those first whose whole has the highest
 * score. Symbols of the trainer's user are never merged, and unused pieces are taken apart again in the end.
 */
export function createMerger({ pieces }: SentencePieceModel): (text: string) => Cut[] {
  const scores = new Map<string, number>();
  const unused = new Set<string>();
  for (const { text, score, type } of pieces) {
    if (type === PIECE.normal || type === PIECE.user || type === PIECE.unused) scores.set(text, score);
    if (type === PIECE.unused) unused.add(text);
  }
  const symbols = findPrefixes(pieces.flatMap(({ text, type }) => (type === PIECE.user ? [text] : [])));
  return (text) => {
    /** Unused pieces of this text, by the two that they were made of. */
    const madeOf = new Map<string, [string, string]>();
    const apart = (piece: string): Cut[] => {
      const parts = unused.has(piece) ? madeOf.get(piece) : undefined;
      return parts ? parts.flatMap(apart) : [{ text: piece, known: scores.has(piece) }];
    };
    return merged(text, { symbols, scores, unused, madeOf }).flatMap(apart);
  };
}

interface Merging {
  symbols: ReturnType<typeof findPrefixes>;
  scores: ReadonlyMap<string, number>;
  unused: ReadonlySet<string>;
  madeOf: Map<string, [string, string]>;
}

function merged(text: string, { symbols, scores, unused, madeOf }: Merging): string[] {
  const { ends, before, frozen } = symbolsOf(text, symbols);
  const agenda = createAgenda();
  const consider = (left: number, right: number): void => {
    if (left < 0 || right >= text.length || frozen[left] || frozen[right]) return;
    const end = ends[right]!;
    const whole = text.slice(left, end);
    const score = scores.get(whole);
    if (score === undefined) return;
    agenda.push({ left, right, end, score });
    if (unused.has(whole)) madeOf.set(whole, [text.slice(left, right), text.slice(right, end)]);
  };
  for (let at = 0; at < text.length; at = ends[at]!) consider(at, ends[at]!);
  for (let next = agenda.pop(); next; next = agenda.pop()) {
    const { left, right, end } = next;
    // One of both has become part of another piece.
    if (ends[left] !== right || ends[right] !== end) continue;
    ends[left] = end;
    ends[right] = 0;
    if (end < text.length) before[end] = left;
    consider(before[left]!, left);
    consider(left, end);
  }
  const found: string[] = [];
  for (let at = 0; at < text.length; at = ends[at]!) found.push(text.slice(at, ends[at]));
  return found;
}

/** The symbols that a text begins as: by the place of each its end and that of the one before it (-1 for none). */
function symbolsOf(text: string, symbols: Merging['symbols']) {
  const ends = new Int32Array(text.length);
  const before = new Int32Array(text.length).fill(-1);
  const frozen = new Uint8Array(text.length);
  for (let at = 0, last = -1; at < text.length; last = at, at = ends[at]!) {
    let symbol = 0;
    symbols(text, at, (end) => void (symbol = end));
    ends[at] = symbol || at + (text.codePointAt(at)! > 0xffff ? 2 : 1);
    frozen[at] = symbol ? 1 : 0;
    before[at] = last;
  }
  return { ends, before, frozen };
}
