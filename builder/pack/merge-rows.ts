import path from 'node:path';
import { bytesOf, floatsOf, readPart, type StoredTensor } from '../../runtime/weights/index.js';
import { undoChange } from './undo-change.js';

/** scale · left · right, which is added to a matrix [rows, columns]. */
export interface Addition {
  /** [rows, rank] */
  left: Float32Array;
  /** [rank, columns] */
  right: Float32Array;
  rank: number;
  columns: number;
  scale: number;
}

/** What an adapter adds to a tensor, from the checkpoint's files in a folder; undefined where it adds nothing. */
export async function readAddition(from: string, { merge }: StoredTensor): Promise<Addition | undefined> {
  if (!merge) return undefined;
  const { down, up, scale, transposed } = merge;
  const [inner, outer] = await Promise.all([readMatrix(from, down), readMatrix(from, up)]);
  const [rank, inputs] = down.shape as [number, number];
  const outputs = up.shape[0]!;
  if (!transposed) return { left: outer, right: inner, rank, columns: inputs, scale };
  const [left, right] = [turned(inner, rank, inputs), turned(outer, outputs, rank)];
  return { left, right, rank, columns: outputs, scale };
}

async function readMatrix(from: string, tensor: StoredTensor): Promise<Float32Array> {
  const { file, offset, length, type } = tensor;
  const place = path.join(from, ...file.split('/'));
  const bytes = await readPart(place, offset, length);
  if (bytes.length < length) throw new Error(`${place} has become shorter`);
  return floatsOf(undoChange(bytes, tensor), type);
}

/**
 * Rows of a matrix with what is added to them, rounded as peft does: the product, the product times the scale and the sum
 * are float32, the result is of the matrix's type. Products are summed in double precision.
 * @param bytes whole rows @param firstRow number of the first one in the matrix
 */
export function mergedRows(
  bytes: Uint8Array,
  type: string,
  addition: Addition,
  firstRow: number,
): Uint8Array {
  const { left, right, rank, columns } = addition;
  const scale = Math.fround(addition.scale);
  const values = floatsOf(bytes, type);
  const sums = new Float64Array(columns);
  for (let start = 0, row = firstRow; start < values.length; start += columns, row++) {
    sums.fill(0);
    for (let k = 0; k < rank; k++) {
      const factor = left[row * rank + k]!;
      for (let column = 0; column < columns; column++) sums[column]! += factor * right[k * columns + column]!;
    }
    for (let column = 0; column < columns; column++)
      values[start + column] = values[start + column]! + Math.fround(Math.fround(sums[column]!) * scale);
  }
  return bytesOf(values, type);
}

/** [rows, columns] -> [columns, rows] */
export function turned(values: Float32Array, rows: number, columns: number): Float32Array {
  const found = new Float32Array(values.length);
  for (let column = 0; column < columns; column++)
    for (let row = 0; row < rows; row++) found[column * rows + row] = values[row * columns + column]!;
  return found;
}
