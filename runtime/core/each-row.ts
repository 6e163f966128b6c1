import { inSlices, type Steps } from './steps.js';

/**
 * Calls `use` for each row of an image or frame of an audio clip, in short slices of the event loop: work over all of a large
 * one takes seconds. Rejects with the signal's reason when that aborts between two slices.
 */
export function eachRow(height: number, signal: AbortSignal, use: (y: number) => void): Promise<void> {
  return inSlices(rows(height, use), signal);
}

function* rows(height: number, use: (y: number) => void): Steps<void> {
  for (let y = 0; y < height; y++) {
    use(y);
    yield;
  }
}
