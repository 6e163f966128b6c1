import { RunError } from '../../../core/errors.js';
import { findPrefixes } from '../unigram.js';
import { type ModelKind, PIECE, type SentencePieceModel } from './model-file.js';
import { longestPrefix } from './chars-map.js';
import { createMerger, type Cut } from './merge-pieces.js';

/** What a character that is in no piece costs more than the least likely piece. */
const UNKNOWN_PENALTY = 10;
/** A symbol of the trainer's user is taken before all else. */
const SYMBOL_SCORE = -0.1;

/**
 * Cuts texts into pieces as sentencepiece itself does, which differs from the Rust library in its table of characters
 * (the longest entry counts, not the shortest) and in its scores, which are sums in float32.
 * @throws RunError `not_ready` for a model of words, or one that falls back to bytes
 */
export function createEncoder(model: SentencePieceModel): (text: string) => string[] {
  if (model.kind === 'word')
    throw new RunError(
      'not_ready',
      `the tokenizer's model is of the kind ${model.kind}, which is not supported here`,
    );
  if (model.byteFallback)
    throw new RunError('not_ready', "the tokenizer's model falls back to bytes, which is not supported here");
  const normalize = createTextNormalizer(model);
  const cut = CUTTERS[model.kind](model);
  return (text) => joined(cut(normalize(text)));
}

type Cutter = (model: SentencePieceModel) => (text: string) => Cut[];

const CUTTERS: Record<Exclude<ModelKind, 'word'>, Cutter> = {
  unigram: createLattice,
  bpe: createMerger,
  char: createSplitter,
};

/** Cuts normalised texts into characters and the symbols of the trainer's user. */
function createSplitter({ pieces }: SentencePieceModel): (text: string) => Cut[] {
  const known = new Set(pieces.map(({ text }) => text));
  const symbols = findPrefixes(textsOf(pieces, PIECE.user));
  return (text) => {
    const found: Cut[] = [];
    for (let at = 0; at < text.length;) {
      let end = at + (text.codePointAt(at)! > 0xffff ? 2 : 1);
      symbols(text, at, (longest) => void (end = Math.max(end, longest)));
      const piece = text.slice(at, end);
      found.push({ text: piece, known: known.has(piece) });
      at = end;
    }
    return found;
  };
}

/** The text as the pieces have it: characters replaced, blanks marked. */
function createTextNormalizer({
  normalizer,
  pieces,
  blankBehind,
}: SentencePieceModel): (text: string) => string {
  const { charsMap, addsPrefix, removesExtraBlanks, escapesBlanks } = normalizer;
  const symbols = findPrefixes(textsOf(pieces, PIECE.user));
  const replacement = longestPrefix(charsMap);
  const blank = escapesBlanks ? '▁' : ' ';
  const nextOf = (text: string, at: number): [length: number, fresh: string] => {
    let length = 0;
    symbols(text, at, (end) => void (length = end - at));
    if (length > 0) return [length, text.slice(at, at + length)];
    const single = text.codePointAt(at)! > 0xffff ? 2 : 1;
    return replacement(text, at) ?? [single, text.slice(at, at + single)];
  };
  return (text) => {
    let out = '';
    let afterBlank = removesExtraBlanks;
    let begun = !removesExtraBlanks;
    for (let at = 0; at < text.length;) {
      const [length, fresh] = nextOf(text, at);
      at += length;
      if (!begun && fresh === ' ') continue;
      begun = true;
      const kept = afterBlank ? fresh.replace(/^ +/, '') : fresh;
      out += kept.replaceAll(' ', blank);
      if (removesExtraBlanks && kept !== '') afterBlank = kept.endsWith(' ');
    }
    if (!begun || text === '') return '';
    if (removesExtraBlanks) while (out.endsWith(blank)) out = out.slice(0, -blank.length);
    if (!addsPrefix) return out;
    return blankBehind ? out + blank : blank + out;
  };
}

/** Cuts normalised texts into the likeliest row of pieces. */
function createLattice({ pieces }: SentencePieceModel): (text: string) => Cut[] {
  const used = pieces.filter(({ type }) => type === PIECE.normal || type === PIECE.user);
  const find = findPrefixes(used.map(({ text }) => text));
  const least = pieces.reduce(
    (least, { type, score }) => (type === PIECE.normal ? Math.min(least, score) : least),
    Infinity,
  );
  const unknown = Math.fround(least - UNKNOWN_PENALTY);
  const scores = used.map(({ type, score }) => (type === PIECE.user ? SYMBOL_SCORE : score));
  return (text) => {
    const best = new Float32Array(text.length + 1);
    const from = new Int32Array(text.length + 1).fill(-1);
    const isKnown = new Uint8Array(text.length + 1);
    const offer = (start: number, end: number, { score, known }: { score: number; known: boolean }) => {
      const total = score + best[start]!;
      if (from[end]! >= 0 && total <= best[end]!) return;
      best[end] = total;
      from[end] = start;
      isKnown[end] = known ? 1 : 0;
    };
    for (let start = 0; start < text.length;) {
      const single = start + (text.codePointAt(start)! > 0xffff ? 2 : 1);
      let whole = false;
      find(text, start, (end, piece) => {
        offer(start, end, { score: scores[piece]!, known: true });
        if (end === single) whole = true;
      });
      if (!whole) offer(start, single, { score: unknown, known: false });
      start = single;
    }
    const found: Cut[] = [];
    for (let end = text.length; end > 0; end = from[end]!)
      found.push({ text: text.slice(from[end], end), known: isKnown[end] === 1 });
    return found.toReversed();
  };
}

/** Neighbours that are in no piece are one. */
function joined(found: readonly Cut[]): string[] {
  const out: string[] = [];
  let open = false;
  for (const { text, known } of found) {
    if (known) out.push(text);
    else if (open) out[out.length - 1] += text;
    else out.push(text);
    open = !known;
  }
  return out;
}

function textsOf(pieces: SentencePieceModel['pieces'], type: number): string[] {
  return pieces.filter((piece) => piece.type === type).map(({ text }) => text);
}
