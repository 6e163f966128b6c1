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

/** A state of fixed size that a layer keeps of all former tokens, as convolutions and recurrent layers do. */
export interface StatePort {
  /** Name of the input, and of the output that takes its place. */
  past: string;
  present: string;
  /** Of a row. */
  dims: readonly number[];
}

export interface CacheLayout {
  ports: readonly CachePort[];
  states?: readonly StatePort[];
  /** Of the source, for a decoder that attends to one. */
  source?: readonly CachePort[];
  type: 'float32' | 'float16';
}

/** Keys and values of tokens: per port [heads, length, width]. */
export interface KeysValues {
  length: number;
  data: Elements[];
}

/** What one sequence leaves behind for its next tokens. */
export interface SequenceCache extends KeysValues {
  /** Per port of a state; never changed in place. */
  states: readonly Elements[];
  /** Those of the source, which stay as they are. */
  source?: KeysValues;
}

export function emptySequenceCache({ ports, states = [], source, type }: CacheLayout): SequenceCache {
  const none = (of: readonly CachePort[]) => of.map(() => elements(type, 0));
  return {
    length: 0,
    data: none(ports),
    states: states.map((port) => elements(type, stateSize(port))),
    ...(source && { source: { length: 0, data: none(source) } }),
  };
}

/** Numbers of a row's state. */
export const stateSize = ({ dims }: StatePort): number => dims.reduce((a, b) => a * b, 1);

/** Bytes that the states of a row take, however long its text is. */
export function stateBytes({ states = [], type }: Pick<CacheLayout, 'states' | 'type'>): number {
  return states.reduce((sum, port) => sum + stateSize(port), 0) * elementBytes(type);
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

/** What tokens that were fed leave behind. */
export interface FedTokens {
  /** How many, of each row. */
  tokens: number;
  /** Their keys and values, [rows, heads, tokens, width] per port. */
  newEntries: readonly Elements[];
  /** The states after them, [rows, …] per port. */
  newStates: readonly Elements[];
}

/** A new cache: that of a sequence with new tokens at its end. */
export function appendTokens(
  layout: CacheLayout,
  cache: SequenceCache,
  { tokens: added, newEntries, newStates }: FedTokens,
): SequenceCache {
  const length = cache.length + added;
  const data = layout.ports.map((port, i) => {
    const to = elements(layout.type, port.heads * length * port.width);
    const target = { to, toStride: length, fromStart: 0 };
    copyTokens(port, cache.length, { ...target, from: cache.data[i]!, fromStride: cache.length, toStart: 0 });
    const end = cache.length * port.width;
    copyTokens(port, added, { ...target, from: newEntries[i]!, fromStride: added, toStart: end });
    return to;
  });
  return { ...cache, length, data, states: newStates };
}

/** These tokens alone, as a copy. */
export function copyRanges(
  ports: readonly CachePort[],
  type: CacheLayout['type'],
  { length, data }: KeysValues,
  ranges: readonly (readonly [from: number, to: number])[],
): KeysValues {
  const kept = ranges.reduce((sum, [from, to]) => sum + to - from, 0);
  const copy = (port: CachePort, from: Elements) => {
    const to = elements(type, port.heads * kept * port.width);
    let start = 0;
    for (const [first, end] of ranges) {
      const [fromStart, toStart] = [first * port.width, start * port.width];
      copyTokens(port, end - first, { from, fromStart, fromStride: length, to, toStart, toStride: kept });
      start += end - first;
    }
    return to;
  };
  return { length: kept, data: ports.map((port, i) => copy(port, data[i]!)) };
}

/** The first tokens of a cache, as a copy; all of them where there are states, which know no former ones. */
export function copyPrefix(layout: CacheLayout, cache: SequenceCache, length: number): SequenceCache {
  const data = layout.ports.map((port, i) => {
    const to = elements(layout.type, port.heads * length * port.width);
    const range = { fromStart: 0, fromStride: cache.length, toStart: 0, toStride: length };
    copyTokens(port, length, { ...range, from: cache.data[i]!, to });
    return to;
  });
  return { length, data, states: cache.states };
}
