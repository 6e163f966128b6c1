import type { TensorLike, Tensors } from '../sessions/tensors.js';

/**
 * Rows of tensors: what one request gives a graph, and what it gets. Every tensor counts rows along its first axis, as a
 * rule one. Rows share a run where all else of their shapes is the same.
 */

/** Rows with the same key can be put together: same inputs, same types, same axes but for the first. */
export function shapeKey(row: Tensors): string {
  return Object.entries(row)
    .map(([name, { type, dims }]) => `${name}:${type}[${dims.slice(1).join()}]`)
    .sort((a, b) => (a < b ? -1 : 1))
    .join(' ');
}

/** Numbers that a row gives the graph: how large it is beside others. */
export function numbersOf(row: Tensors): number {
  return Object.values(row).reduce((sum, { data }) => sum + data.length, 0);
}

/** Puts rows of one key together, one after the other. A row by itself is not copied. */
export function stackRows(rows: readonly Tensors[]): Tensors {
  const [first] = rows;
  if (rows.length === 1) return first!;
  return Object.fromEntries(
    Object.keys(first!).map((name) => [name, concatenated(rows.map((row) => row[name]!))]),
  );
}

function concatenated(tensors: readonly TensorLike[]): TensorLike {
  const [{ type, data: sample, dims }] = tensors as [TensorLike];
  const length = tensors.reduce((sum, { data }) => sum + data.length, 0);
  const data = new (sample.constructor as Float32ArrayConstructor)(length);
  let at = 0;
  for (const tensor of tensors) {
    data.set(tensor.data as Float32Array, at);
    at += tensor.data.length;
  }
  return { type, data, dims: [tensors.reduce((sum, each) => sum + each.dims[0]!, 0), ...dims.slice(1)] };
}

/**
 * What a run gave each of the rows that were put together. Views, no copies.
 * @throws Error where an output does not count the rows along its first axis
 */
export function splitRows(outputs: Tensors, rows: readonly Tensors[]): Tensors[] {
  if (rows.length === 1) return [outputs];
  const counts = rows.map(rowCount);
  const total = counts.reduce((a, b) => a + b, 0);
  for (const [name, { dims }] of Object.entries(outputs)) {
    if (dims[0] !== total) throw new Error(`output ${name} has no axis of ${total} rows`);
  }
  let begin = 0;
  return counts.map((count) => {
    const from = begin;
    begin += count;
    return Object.fromEntries(
      Object.entries(outputs).map(([name, tensor]) => [name, partOf(tensor, from, count)]),
    );
  });
}

const rowCount = (row: Tensors): number => Object.values(row)[0]!.dims[0]!;

function partOf({ type, data, dims }: TensorLike, from: number, count: number): TensorLike {
  const [, ...rest] = dims;
  const size = rest.reduce((a, b) => a * b, 1);
  const part = (data as Float32Array).subarray(from * size, (from + count) * size);
  return { type, data: part, dims: [count, ...rest] };
}
