import type { GgufModel } from './parts.js';
import { type GgufSizes, ggufSizes } from './sizes.js';

/** Types that caches of keys and values can have, and bytes of a number. */
export const CACHE_BYTES = { f32: 4, f16: 2, q8_0: 34 / 32 } as const;
export type CacheType = keyof typeof CACHE_BYTES;

/** How llama.cpp is asked to open a model. */
export interface LlamaShape {
  /** Tokens that the cache holds, of all rows together. */
  cells: number;
  /** Most tokens in a run, and most whose scores are wanted. */
  batch: number;
  outputs: number;
  /** Rows at a time. */
  rows: number;
  cacheType: CacheType;
}

/** Bytes that llama.cpp takes, beside those of the processes. */
export interface LlamaMemory {
  /** The file, mapped: page cache, which other processes share. */
  weights: number;
  /** Copies of matrices, in the order in which this processor reads them fastest. */
  repacked: number;
  cache: number;
  /** Buffers of runs. */
  compute: number;
  total: number;
}

/** Types of matrices that processors with vectors of 256 bits have an order of their own for. */
const REPACKED = /^(?:Q4_0|Q4_K|IQ4_NL|Q2_K)$/;

const FLOAT = 4;

export const cacheBytesPerToken = ({ cached }: GgufSizes, type: CacheType): number =>
  cached.reduce((sum, numbers) => sum + numbers, 0) * CACHE_BYTES[type];

/** Predicts the memory of a model on a processor. Pure. */
export function llamaMemory(
  { metadata, tensors }: Pick<GgufModel, 'metadata' | 'tensors'>,
  shape: LlamaShape,
): LlamaMemory {
  const sizes = ggufSizes(metadata, tensors);
  const weights = tensors.reduce((sum, { length }) => sum + length, 0);
  const repacked = tensors.reduce(
    (sum, { name, type, length }) =>
      sum + (REPACKED.test(type) && !name.startsWith('token_embd') ? length : 0),
    0,
  );
  const cache = shape.cells * cacheBytesPerToken(sizes, shape.cacheType) + shape.rows * sizes.stateBytes;
  const compute = computeBytes(sizes, shape);
  return { weights, repacked, cache, compute, total: weights + repacked + cache + compute };
}

/** Scores twice, as they are made and as they are kept; activations; without flash attention, of its shares as well. */
function computeBytes(
  { vocabulary, width, feedForward, heads }: GgufSizes,
  { batch, outputs, rows, cells, cacheType }: LlamaShape,
): number {
  const scores = (outputs + rows) * vocabulary;
  const activations = batch * (6 * width + 3 * feedForward);
  const attention = cacheType === 'f32' ? 2 * heads * batch * cells : 0;
  return FLOAT * (scores + activations + attention + batch * cells);
}
