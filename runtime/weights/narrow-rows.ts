import { type BlockFit, codeOf, fitBlock } from './least-error.js';
import type { RowPacking } from './pack-rows.js';

/** Rows whose blocks have scales of eight bits, which are parts of a scale that the whole row has. */
export interface NarrowRows {
  /** As in PackedRows. */
  data: Uint8Array;
  /** One for each block: a block's scale is it times its row's. */
  scales: Uint8Array;
  /** One for each row, in bits of bfloat16. */
  rowScales: Uint16Array;
  /** [rows, blocks / 2], of four bits, the first of a pair in the low half; absent where all zero points are in the middle. */
  zeros?: Uint8Array;
}

/** What a row's largest scale is counted as. */
const MOST = 255;
const MIDDLE = 128;
/** Eight bits hold numbers to both sides of the middle as far as this. */
const REACH = 127;

/**
 * Packs rows to four bits with the scale and the zero point of each block that lose least, or to eight with the zero in the middle.
 * Layout of ONNX Runtime's MatMulNBits and GatherBlockQuantized, but for the scales, which graphs make of both kinds.
 * @param values whole rows of finite numbers
 */
export function packNarrowRows(values: Float32Array, { bits, columns, block }: RowPacking): NarrowRows {
  const rows = values.length / columns;
  const blocks = Math.ceil(columns / block);
  const zeroBytes = Math.ceil(blocks / 2);
  const packed = {
    data: new Uint8Array((rows * blocks * block * bits) / 8).fill(bits === 8 ? MIDDLE : 0),
    scales: new Uint8Array(rows * blocks),
    rowScales: new Uint16Array(rows),
    ...(bits === 4 && { zeros: new Uint8Array(rows * zeroBytes) }),
  };
  const fits = Array.from({ length: blocks }, (): BlockFit => ({ scale: 0, zero: 0, inverse: 0 }));
  const { data, zeros } = packed;
  for (let row = 0; row < rows; row++) {
    const borders = (i: number) =>
      [row * columns + i * block, row * columns + Math.min(columns, (i + 1) * block)] as const;
    for (const [i, fit] of fits.entries()) {
      const [start, end] = borders(i);
      if (bits === 4) fitBlock(values, start, end, fit);
      else fit.scale = largest(values, start, end) / REACH;
    }
    narrowScales(fits, packed, { row, round: bits === 4 ? Math.round : Math.ceil });
    for (const [i, fit] of fits.entries()) {
      const [start, end] = borders(i);
      const at = ((row * blocks + i) * block * bits) / 8;
      if (bits === 8) writeBytes(values.subarray(start, end), fit.inverse, data.subarray(at));
      else writeHalves(values.subarray(start, end), fit, data.subarray(at, at + block / 2));
      if (zeros) zeros[row * zeroBytes + (i >> 1)]! |= fit.zero << (4 * (i % 2));
    }
  }
  return packed;
}

/** Rounds the scales of a row, and has its blocks multiply by those. */
function narrowScales(
  fits: BlockFit[],
  { scales, rowScales }: Pick<NarrowRows, 'scales' | 'rowScales'>,
  { row, round }: { row: number; round: (value: number) => number },
): void {
  const most = fits.reduce((max, { scale }) => Math.max(max, scale), 0);
  const bits = bitsAbove(most / MOST);
  const step = valueOf(bits);
  rowScales[row] = bits;
  for (const [i, fit] of fits.entries()) {
    const code = step === 0 ? 0 : Math.min(MOST, round(fit.scale / step));
    scales[row * fits.length + i] = code;
    fit.scale = Math.fround(code * step);
    fit.inverse = fit.scale === 0 ? 0 : 1 / fit.scale;
  }
}

const float = new Float32Array(1);
const word = new Uint32Array(float.buffer);

/** Of the least number of bfloat16 that is not below this one, which is no less than 0. */
function bitsAbove(value: number): number {
  float[0] = value;
  return Math.ceil(word[0]! / 2 ** 16);
}

function valueOf(bits: number): number {
  word[0] = bits * 2 ** 16;
  return float[0]!;
}

function largest(values: Float32Array, start: number, end: number): number {
  let found = 0;
  for (let i = start; i < end; i++) found = Math.max(found, Math.abs(values[i]!));
  return found;
}

function writeBytes(values: Float32Array, inverse: number, data: Uint8Array): void {
  for (let i = 0; i < values.length; i++) {
    const step = Math.floor(values[i]! * inverse + 0.5);
    data[i] = MIDDLE + Math.min(REACH, Math.max(-REACH, step));
  }
}

/** The last block of a row is filled up with zeros. */
function writeHalves(values: Float32Array, { inverse, zero }: BlockFit, data: Uint8Array): void {
  const code = (i: number) => (i < values.length ? codeOf(values[i]!, inverse, zero) : zero);
  for (let k = 0; k < data.length; k++) data[k] = code(2 * k) | (code(2 * k + 1) << 4);
}
