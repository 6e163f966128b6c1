import type { InferenceSession, Tensor } from 'onnxruntime-node';
import { RunError } from '../../../../core/errors.js';
import type { Json } from '../../../repository/model-folder.js';
import { shapeOf, typeOf } from '../../../sessions/tensors.js';
import { cacheShape } from '../../../repository/cache-shape.js';
import { cacheTensor } from '../cache/kv-cache.js';
import { elementBytes, elements } from '../../../sessions/elements.js';

/** A cache input of a graph: what its last step gave, it takes in the next. */
export interface CacheInput {
  name: string;
  /** The output that fills it. */
  present: string;
  type: 'float32' | 'float16';
  /** Shape of an empty row: keys and values without tokens, states of fixed size as zeros. */
  dims: readonly number[];
}

/** Keys by which a layer chooses tokens, [rows, length, width]. */
const INDEX_KEYS = /^past_index\.\d+$/;

/**
 * Keys and values (`past_key_values.0.key`), the states that convolutions and recurrent layers keep (`past_conv.0`), and keys
 * of an index (`past_index.0`).
 * @throws RunError not_ready for one whose size is not known
 */
export function cacheInputsOf(session: InferenceSession, config: Json): CacheInput[] {
  return session.inputNames.flatMap((name) => {
    const present = presentName(name);
    if (present === undefined || !session.outputNames.includes(present)) return [];
    const type = typeOf(session, name);
    if (type !== 'float16' && type !== 'float32') {
      throw new RunError('not_ready', `the graph keeps ${type} in its cache input ${name}, not floats`);
    }
    return [{ name, present, type, dims: emptyDims({ name, shape: shapeOf(session, name) }, config) }];
  });
}

function presentName(name: string): string | undefined {
  if (name.startsWith('past_key_values.')) return name.replace('past_key_values', 'present');
  return /^past[._]/.test(name) ? name.replace('past', 'present') : undefined;
}

function emptyDims(
  input: { name: string; shape: readonly (number | string)[] },
  config: Json,
): readonly number[] {
  if (input.name.startsWith('past_key_values.')) {
    const [heads, width] = cacheShape(input, config);
    return [1, heads, 0, width];
  }
  const sizes = input.shape.slice(1).map(Number);
  if (INDEX_KEYS.test(input.name) && sizes.length === 2 && sizes[1]! > 0) return [1, 0, sizes[1]!];
  if (sizes.length > 0 && sizes.every((size) => size > 0)) return [1, ...sizes];
  throw new RunError('not_ready', `the graph doesn't say how large its cache input ${input.name} is`);
}

/** Empty caches for this many rows. */
export function emptyCacheTensors(inputs: readonly CacheInput[], rows: number): Record<string, Tensor> {
  const tensors = inputs.map(({ name, type, dims: [, ...rest] }) => {
    const dims = [rows, ...rest];
    const data = elements(
      type,
      dims.reduce((a, b) => a * b, 1),
    );
    return [name, cacheTensor(type, data, dims)] as const;
  });
  return Object.fromEntries(tensors);
}

/** Bytes by which the caches of one row grow with each token. */
export function cacheInputBytesPerToken(inputs: readonly CacheInput[]): number {
  return inputs
    .filter(({ dims }) => dims.includes(0))
    .reduce((sum, { type, dims }) => sum + numbersPerToken(dims) * elementBytes(type), 0);
}

/** One axis is that of the tokens. */
const numbersPerToken = (dims: readonly number[]): number =>
  dims.reduce((product, size) => product * (size || 1), 1);
