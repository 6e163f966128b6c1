export interface PackedRows {
  /** Values + 2^(bits - 1); of four bits, the first of a pair is in the low half of a byte. */
  data: Uint8Array;
  /** One for each block. */
  scales: Float32Array;
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
