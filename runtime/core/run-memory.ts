import type { NetworkSizes } from './network-sizes.js';

/**
 * Working memory of runs on a CPU, as ONNX Runtime's arena comes to hold it. Measured on Llama (130 million parameters, fp32,
 * q8, q4) and on encoders of MiniLM's and BERT's size: docs/measurements.md. The same figures are what `builder plan`
 * predicts and what a server admits by.
 */
export interface RunShape {
  /** Tokens that a run computes, over all rows. */
  tokens: number;
  /** Most tokens that each of them looks at. */
  attended: number;
}

const FLOAT = 4;
/** Scores of attention and what is made of them are there at once. */
const SCORES = 2;
/** Integer kernels hand sums on as whole numbers and as floats. */
const INTEGER_STATES = 4;
/** What the arena holds beyond what is in use, since pieces of many sizes leave gaps. */
const GAPS = 1.25;

/** Bytes of one run through an encoder, or through a decoder without its cache. */
export function runBytes(
  { hidden, intermediate, heads }: NetworkSizes,
  { tokens, attended }: RunShape,
  integers = false,
): number {
  const states = (3 * intermediate + 6 * hidden) * (integers ? INTEGER_STATES : 1);
  return Math.round(GAPS * FLOAT * tokens * (states + SCORES * heads * attended));
}

/** How a decoder gets its prompts. */
export interface DecoderShape {
  sizes: NetworkSizes;
  /** Bytes of cache for each token. */
  perToken: number;
  /** Most tokens of a prompt in one run; Infinity: the prompt is fed whole. */
  chunk: number;
  /** Integer weights. */
  integers: boolean;
}

/** Caches of new tokens come out of a run and are put beside those of the run; older ones are widened on their way. */
const FRESH = 2;
const WIDENED = 1.3;

/** Bytes of the largest run of a prompt. */
export function promptBytes({ sizes, perToken, chunk, integers }: DecoderShape, length: number): number {
  const tokens = Math.min(chunk, length);
  const caches = GAPS * perToken * (FRESH * tokens + WIDENED * (length - tokens));
  return Math.round(runBytes(sizes, { tokens, attended: length }, integers) + caches);
}

/**
 * What a byte of reserved cache comes to: a batch holds up to as much again in unused places, and joining it or growing
 * copies.
 */
export const CACHE_COPIES = 3;

/** The largest number up to `most` for which `bytesOf`, which never falls, is at most `bytes`. */
export function largestWithin(bytes: number, most: number, bytesOf: (count: number) => number): number {
  let low = 0;
  let high = Math.min(most, 2 ** 24);
  if (bytesOf(high) <= bytes) return most;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (bytesOf(middle) <= bytes) low = middle;
    else high = middle - 1;
  }
  return low;
}
