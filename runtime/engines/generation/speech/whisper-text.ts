import type { TranscriptChunk } from '../../../core/handles/index.js';
import { type TranscribedRun, mergeOverlaps, type Span } from './merge-overlap.js';
import type { WordOfTokens } from './word-times/words.js';

/** What was transcribed in one piece of an audio clip. */
export interface TranscribedPiece {
  tokens: readonly number[];
  /** Seconds of the piece at which each token is said, where words are asked for. */
  times?: readonly number[] | undefined;
  /** Seconds of a piece that overlaps others, and of what it shares with the one before and after. */
  overlap?: { length: number; left: number; right: number } | undefined;
}

export interface TextRules {
  /** Token of the time 0. */
  timestampBegin: number;
  specialIds: ReadonlySet<number>;
  /** Seconds of a step of time. */
  secondsPerStep: number;
  decode(ids: readonly number[]): string;
  /** Puts the tokens of a part together to words, by their positions. */
  words?: ((tokens: readonly number[]) => readonly WordOfTokens[]) | undefined;
}

/** Steps of a window. */
const WINDOW_STEPS = 1500;

/** What was said, and its parts between times. */
export interface TimedText {
  text: string;
  chunks: TranscriptChunk[];
  /** Where pieces have times. */
  words?: TranscriptChunk[] | undefined;
}

/**
 * The text of pieces one after the other (transformers' _decode_asr): tokens of times split it into parts, and what lies in
 * an overlap waits until the next piece has been transcribed, too.
 */
export function whisperText(pieces: readonly TranscribedPiece[], rules: TextRules): TimedText {
  const reader = createReader(rules);
  for (const piece of pieces) reader.read(piece);
  return reader.finish();
}

function createReader(rules: TextRules) {
  const { timestampBegin, specialIds, secondsPerStep, decode } = rules;
  const chunks: TranscriptChunk[] = [];
  const words: TranscriptChunk[] = [];
  /** Runs of tokens that have not become text. */
  let waiting: TranscribedRun[] = [];
  let partStart: number | undefined;
  let offset = 0;
  let skips = false;

  function endPart(end: number | null): void {
    const { tokens, spans } = mergeOverlaps(waiting);
    chunks.push({ text: decode(tokens), start: partStart ?? null, end });
    if (spans.length > 0)
      for (const { text, positions } of rules.words?.(tokens) ?? [])
        words.push({ text, start: spans[positions[0]!]!.start, end: spans[positions.at(-1)!]!.end });
    waiting = [];
    partStart = undefined;
  }

  /** A time; returns true where it ends a part. */
  function readTime(token: number, time: number, { first, last }: Bounds): boolean {
    if (last !== undefined && token >= last) {
      // In the overlap: what follows it is left to the next piece. Times come in pairs, so the next is skipped, too.
      skips = true;
      return false;
    }
    if (skips || (waiting.length > 0 && token < first)) {
      skips = false;
      return false;
    }
    if (partStart === undefined) {
      partStart = time;
      return false;
    }
    return time !== partStart;
  }

  return {
    read({ tokens, times, overlap }: TranscribedPiece): void {
      if (overlap) offset -= overlap.left;
      const bounds = boundsOf(tokens, overlap, rules);
      const clock = createClock(tokens, rules);
      let current = emptyRun();
      for (const [i, token] of tokens.entries()) {
        if (specialIds.has(token)) continue;
        if (token < timestampBegin) {
          current.tokens.push(token);
          if (times)
            current.spans.push({
              start: round((times[i - 1] ?? 0) + offset),
              end: round(times[i]! + offset),
            });
          continue;
        }
        const passed = clock.passed(i);
        const time = round((token - timestampBegin) * secondsPerStep + offset + passed);
        if (!readTime(token, time, bounds)) continue;
        waiting.push(current);
        current = emptyRun();
        endPart(time);
      }
      if (overlap) offset += overlap.length - overlap.right;
      if (current.tokens.length > 0) waiting.push(current);
      else if (waiting.every((run) => run.tokens.length === 0)) {
        waiting = [];
        partStart = undefined;
      }
    },
    finish(): TimedText {
      if (waiting.length > 0) endPart(null);
      const text = chunks.map((chunk) => chunk.text).join('');
      return { text, chunks, ...(rules.words && { words }) };
    },
  };
}

const emptyRun = (): { tokens: number[]; spans: Span[] } => ({ tokens: [], spans: [] });

const round = (seconds: number): number => Math.round(seconds * 100) / 100;

/** Tokens of times that lie in an overlap: before `first`, and from `last` on. */
interface Bounds {
  first: number;
  last: number | undefined;
}

function boundsOf(
  tokens: readonly number[],
  overlap: TranscribedPiece['overlap'],
  { timestampBegin, secondsPerStep }: TextRules,
): Bounds {
  let last: number | undefined;
  if (!overlap) return { first: timestampBegin, last };
  const right = overlap.length - overlap.right;
  for (let i = overlap.right > 0 ? tokens.length - 1 : -1; i >= 0; i--) {
    const token = tokens[i]!;
    if (token < timestampBegin) continue;
    if (last !== undefined && (token - timestampBegin) * secondsPerStep < right) break;
    last = token;
  }
  return { first: overlap.left / secondsPerStep + timestampBegin, last };
}

/** Times begin anew with each window of a long audio clip. */
function createClock(tokens: readonly number[], { timestampBegin, secondsPerStep }: TextRules) {
  let [windows, latest, secondLatest] = [0, 0, 0];
  return {
    /** Seconds of the windows before that of the time at `i`. Called for each time in turn. */
    passed(i: number): number {
      const time = (tokens[i]! - timestampBegin) * secondsPerStep;
      if (time < latest) {
        const endedWithOne =
          i >= 2 && !(tokens[i - 1]! >= timestampBegin && tokens[i - 2]! >= timestampBegin);
        if (!endedWithOne) latest = secondLatest;
        windows += endedWithOne ? secondsPerStep * WINDOW_STEPS : secondLatest;
      }
      secondLatest = latest;
      latest = time;
      return windows;
    },
  };
}
