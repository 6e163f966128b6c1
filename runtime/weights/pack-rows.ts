import { codeOf, fitBlock } from './least-error.js';

export interface PackedRows {
  /** Values + 2^(bits - 1), or + their block's zero point; of four bits, the first of a pair is in the low half of a byte. */
  data: Uint8Array;
  /** One for each block. */
  scales: Float32Array;
  /** [rows, blocks / 2], of four bits, the first of a pair in the low half; absent where all zero points are in the middle. */
  zeros?: Uint8Array;
}

export interface RowPacking {
  bits: 4 | 8;
  /** Numbers of a row. */
  columns: number;
  /** Numbers that share a scale; the last block of a row is filled up with zeros. */
  block: number;
}

/**
 * Packs rows of numbers in blocks that share a scale, rounded to the nearest step. The number farthest from zero becomes
 * -2^(bits - 1), the end that reaches one step farther. Layout of ONNX Runtime's MatMulNBits and GatherBlockQuantized.
 * @param values whole rows of finite numbers
 */
export function packRows(values: Float32Array, { bits, columns, block }: RowPacking): PackedRows {
  const middle = 2 ** (bits - 1);
  const most = 2 * middle - 1;
  const blocks = Math.ceil(columns / block);
  const scales = new Float32Array((values.length / columns) * blocks);
  const zero = bits === 8 ? middle : middle | (middle << 4);
  const data = new Uint8Array((scales.length * block * bits) / 8).fill(zero);
  for (let i = 0; i < scales.length; i++) {
    const column = (i % blocks) * block;
    const start = Math.floor(i / blocks) * columns + column;
    const end = start + Math.min(block, columns - column);
    const scale = Math.fround(farthest(values, start, end) / -middle);
    scales[i] = scale;
    const inverse = scale === 0 ? 0 : 1 / scale;
    for (let j = start, k = i * block; j < end; j++, k++) {
      const step = Math.floor(values[j]! * inverse + 0.5) + middle;
      const code = step > most ? most : step > 0 ? step : 0;
      if (bits === 8) data[k] = code;
      else data[k >> 1] = k % 2 === 0 ? (data[k >> 1]! & 0xf0) | code : (data[k >> 1]! & 0x0f) | (code << 4);
    }
  }
  return { data, scales };
}

/** The number farthest from zero, with its sign. */
function farthest(values: Float32Array, start: number, end: number): number {
  let found = 0;
  for (let i = start; i < end; i++) {
    const value = values[i]!;
    if (Math.abs(value) > Math.abs(found)) found = value;
  }
  return found;
}

/**
 * Packs rows to four bits with the scale and the zero point of each block that lose least. Layout of ONNX Runtime's MatMulNBits and
 * GatherBlockQuantized.
 * @param values whole rows of finite numbers
 */
export function fitRows(values: Float32Array, { columns, block }: Omit<RowPacking, 'bits'>): PackedRows {
  const rows = values.length / columns;
  const blocks = Math.ceil(columns / block);
  const zeroBytes = Math.ceil(blocks / 2);
  const scales = new Float32Array(rows * blocks);
  const zeros = new Uint8Array(rows * zeroBytes);
  const data = new Uint8Array((scales.length * block) / 2);
  const fit = { scale: 0, zero: 0, inverse: 0 };
  for (let i = 0; i < scales.length; i++) {
    const row = Math.floor(i / blocks);
    const inRow = i % blocks;
    const start = row * columns + inRow * block;
    const end = row * columns + Math.min(columns, (inRow + 1) * block);
    fitBlock(values, start, end, fit);
    const { scale, zero, inverse } = fit;
    scales[i] = scale;
    zeros[row * zeroBytes + (inRow >> 1)]! |= zero << (4 * (inRow % 2));
    for (let j = 0, k = (i * block) / 2; j < block; j += 2, k++) {
      const [first, second] = [start + j, start + j + 1];
      const low = first < end ? codeOf(values[first]!, inverse, zero) : zero;
      data[k] = low | ((second < end ? codeOf(values[second]!, inverse, zero) : zero) << 4);
    }
  }
  return { data, scales, zeros };
}
