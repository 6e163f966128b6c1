import type { MediaEncoderSizes, NetworkSizes } from './network.js';

/**
 * Working memory of runs on a CPU, as held by ONNX Runtime's arena. Measured on Llama (130 million parameters, fp32, q8, q4)
 * and on encoders of MiniLM's and BERT's size: docs/measurements.md. Used by `builder plan` and by the server's admission.
 */
export interface RunShape {
  /** Tokens of a run, over all rows. */
  tokens: number;
  /** Most tokens that each of them attends to. */
  attended: number;
}

const FLOAT = 4;
/** Attention scores and their softmax are in memory together. */
const SCORES = 2;
/** Integer kernels keep sums as integers and as floats. */
const INTEGER_STATES = 4;
/** Fragmentation of the arena. */
const GAPS = 1.25;

/** Bytes of one run of an encoder, or of a decoder without its cache. */
export function runBytes(
  { hidden, intermediate, heads }: Pick<NetworkSizes, 'hidden' | 'intermediate' | 'heads'>,
  { tokens, attended }: RunShape,
  integers = false,
): number {
  const states = (3 * intermediate + 6 * hidden) * (integers ? INTEGER_STATES : 1);
  return Math.round(GAPS * FLOAT * tokens * (states + SCORES * heads * attended));
}

/**
 * Bytes of one run of an encoder of media. Our graphs leave scores to a kernel that has a block of them at a time, where nothing is
 * added to them; exports hold all of them.
 * @param isOwn of a graph of ours
 */
export const mediaRunBytes = (sizes: MediaEncoderSizes, tokens: number, isOwn: boolean): number =>
  runBytes(sizes, { tokens, attended: isOwn && !sizes.masked ? 0 : tokens });

/** How a decoder reads prompts. */
export interface DecoderShape {
  sizes: NetworkSizes;
  /** Cache bytes per token. */
  perToken: number;
  /** Most prompt tokens per run; Infinity: the whole prompt in one run. */
  chunk: number;
  /** Integer weights. */
  integers: boolean;
}

/** The run's output caches exist in addition to its inputs while they are merged. */
const FRESH = 2;
const WIDENED = 1.3;

/** Bytes of the largest run of a prompt. */
export function promptBytes({ sizes, perToken, chunk, integers }: DecoderShape, length: number): number {
  const tokens = Math.min(chunk, length);
  const caches = GAPS * perToken * (FRESH * tokens + WIDENED * (length - tokens));
  // Layers without keys and values see what is fed, and a state.
  const attended = perToken === 0 ? tokens : length;
  return Math.round(runBytes(sizes, { tokens, attended }, integers) + caches);
}

/**
 * Memory per byte of reserved cache: a batch has up to as much again in unused slots, and joining or growing it copies.
 */
export const CACHE_COPIES = 3;

/** The largest count up to `limit` for which the monotonic `bytesOf` is at most `bytes`. */
export function largestWithin(bytes: number, limit: number, bytesOf: (count: number) => number): number {
  let low = 0;
  let high = Math.min(limit, 2 ** 24);
  if (bytesOf(high) <= bytes) return limit;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (bytesOf(middle) <= bytes) low = middle;
    else high = middle - 1;
  }
  return low;
}
