import { RunError } from '../../../core/errors.js';
import { largestWithin } from '../../../core/run-memory.js';

/** Letters and blanks as ids of the model, and how they are spoken. */
export interface Letters {
  ids: readonly number[];
  /** Number of the voice, where the model has several. */
  voice: number;
  seed: number | undefined;
}

/** VITS as its graphs have it. */
export interface VitsNetwork {
  hasVoices: boolean;
  /** What it speaks with where the request names no voice. */
  usualVoice: number;
  /** True where the same seed gives the same speech as Python, false where noise is drawn inside the graph. */
  takesSeed: boolean;
  /** Runs that may be under way together, which share the memory. */
  runs: number;
  /** @returns samples */
  speak(letters: Letters, signal: AbortSignal): Promise<Float32Array>;
}

export interface Needed {
  /** Letters or frames. */
  count: number;
  bytesOf: (count: number) => number;
  room: number;
  what: string;
}

/** @throws RunError 422 where so many take more memory than there is */
export function requireRoom({ count, bytesOf, room, what }: Needed): void {
  if (bytesOf(count) <= room) return;
  throw new RunError(
    'unprocessable',
    `text: is ${count} ${what} to this model, and there is memory for ${largestWithin(room, count, bytesOf)}: ` +
      'speak it in parts, or give the server more memory',
  );
}
