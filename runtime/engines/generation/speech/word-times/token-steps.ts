import { setImmediate as nextTurn } from 'node:timers/promises';
import { medianFilter } from './median-filter.js';
import { firstSteps, type TokensBySteps } from './time-warp.js';

/**
 * The step of the audio at which each token is said (WhisperGenerationMixin._extract_token_timestamps): what each head looks at
 * more than with other tokens, smoothed, the mean over heads, and the likeliest way through that.
 * @param heads how each one looks at the audio; changed in place
 * @param width of the median
 */
export async function tokenSteps(
  heads: readonly TokensBySteps[],
  width: number,
  signal: AbortSignal,
): Promise<number[]> {
  const { tokens, steps } = heads[0]!;
  const values = new Float32Array(tokens * steps);
  for (const head of heads) {
    // A head of a long text takes some tens of milliseconds.
    await nextTurn();
    signal.throwIfAborted();
    normalize(head);
    for (let token = 0; token < tokens; token++) {
      const start = token * steps;
      const smooth = medianFilter(head.values.subarray(start, start + steps), width);
      for (let step = 0; step < steps; step++) values[start + step]! += smooth[step]!;
    }
  }
  for (let i = 0; i < values.length; i++) values[i]! /= heads.length;
  return firstSteps({ values, tokens, steps });
}

/** Mean 0 and deviation 1 over the tokens, for each step. */
function normalize({ values, tokens, steps }: TokensBySteps): void {
  for (let step = 0; step < steps; step++) {
    let [sum, squares] = [0, 0];
    for (let i = step; i < values.length; i += steps) sum += values[i]!;
    const mean = Math.fround(sum / tokens);
    for (let i = step; i < values.length; i += steps) squares += (values[i]! - mean) ** 2;
    const deviation = Math.fround(Math.sqrt(squares / tokens));
    for (let i = step; i < values.length; i += steps) values[i] = Math.fround(values[i]! - mean) / deviation;
  }
}
