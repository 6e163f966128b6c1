export interface PackedRows {
  /** Values + 2^(bits - 1); of four bits, the first of a pair is in the low half of a byte. */
  data: Uint8Array;
  /** One for each block. */
  scales: Float32Array;
}

/**
 * Packs numbers in blocks that share a scale, rounded to the nearest step. The number farthest from zero becomes
 * -2^(bits - 1), the end that reaches one step farther. Layout of ONNX Runtime's MatMulNBits and GatherBlockQuantized.
 * @param values whole blocks of finite numbers
 */
export function packRows(values: Float32Array, bits: 4 | 8, block: number): PackedRows {
  const middle = 2 ** (bits - 1);
  const most = 2 * middle - 1;
  const scales = new Float32Array(values.length / block);
  const data = new Uint8Array((values.length * bits) / 8);
  for (let i = 0; i < scales.length; i++) {
    const start = i * block;
    const scale = Math.fround(farthest(values, start, start + block) / -middle);
    scales[i] = scale;
    const inverse = scale === 0 ? 0 : 1 / scale;
    for (let j = start; j < start + block; j++) {
      const step = Math.floor(values[j]! * inverse + 0.5) + middle;
      const code = step > most ? most : step > 0 ? step : 0;
      if (bits === 8) data[j] = code;
      else data[j >> 1]! |= j % 2 === 0 ? code : code << 4;
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
