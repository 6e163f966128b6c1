import ort from 'onnxruntime-node';
import type { Tensor } from 'onnxruntime-node';
import { elementBytes, elements, type Elements } from '../../../sessions/elements.js';

/** Keys or values of one layer, as the graph takes and gives them. */
export interface CachePort {
  /** Name of the cache input, `past_key_values.…`, and of its output. */
  past: string;
  present: string;
  heads: number;
  width: number;
}

export interface CacheLayout {
  ports: readonly CachePort[];
  /** Of the source, for a decoder that attends to one. */
  source?: readonly CachePort[];
  type: 'float32' | 'float16';
}

/** Keys and values of tokens: per port [heads, length, width]. */
export interface KeysValues {
  length: number;
  data: Elements[];
}

/** Keys and values of one sequence. */
export interface SequenceCache extends KeysValues {
  /** Those of the source, which stay as they are. */
  source?: KeysValues;
}

export function emptySequenceCache({ ports, type }: CacheLayout): SequenceCache {
  return { length: 0, data: ports.map(() => elements(type, 0)) };
}

/** Bytes of cache per token. */
export function kvBytesPerToken({ ports, type }: Pick<CacheLayout, 'ports' | 'type'>): number {
  return ports.reduce((sum, { heads, width }) => sum + heads * width * elementBytes(type), 0);
}

export function cacheTensor(type: CacheLayout['type'], data: Elements, dims: readonly number[]): Tensor {
  return new ort.Tensor(type, data as Float32Array, dims);
}

export interface TokenCopy {
  from: Elements;
  /** Offset of the first head, and tokens from one head to the next. */
  fromStart: number;
  fromStride: number;
  to: Elements;
  toStart: number;
  toStride: number;
}

/** Copies `tokens` tokens of each head of a port; offsets count elements, strides tokens. */
export function copyTokens({ heads, width }: CachePort, tokens: number, copy: TokenCopy): void {
  for (let head = 0; head < heads; head++) {
    const start = copy.fromStart + head * copy.fromStride * width;
    copy.to.set(
      copy.from.subarray(start, start + tokens * width),
      copy.toStart + head * copy.toStride * width,
    );
  }
}

/** A new cache: that of a sequence with new tokens [1, heads, tokens, width] at its end. */
export function appendTokens(
  layout: CacheLayout,
  cache: SequenceCache,
  newEntries: readonly Elements[],
): SequenceCache {
  const [{ heads, width }] = layout.ports as [CachePort];
  const added = newEntries[0]!.length / heads / width;
  const length = cache.length + added;
  const data = layout.ports.map((port, i) => {
    const to = elements(layout.type, port.heads * length * port.width);
    const target = { to, toStride: length, fromStart: 0 };
    copyTokens(port, cache.length, { ...target, from: cache.data[i]!, fromStride: cache.length, toStart: 0 });
    const end = cache.length * port.width;
    copyTokens(port, added, { ...target, from: newEntries[i]!, fromStride: added, toStart: end });
    return to;
  });
  return { ...cache, length, data };
}

/** The first tokens of a cache, as a copy. */
export function copyPrefix(layout: CacheLayout, cache: SequenceCache, length: number): SequenceCache {
  const data = layout.ports.map((port, i) => {
    const to = elements(layout.type, port.heads * length * port.width);
    const range = { fromStart: 0, fromStride: cache.length, toStart: 0, toStride: length };
    copyTokens(port, length, { ...range, from: cache.data[i]!, to });
    return to;
  });
  return { length, data };
}
