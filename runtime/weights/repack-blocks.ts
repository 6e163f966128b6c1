import type { QuantizedBlocks } from './types.js';

export interface StoredBlocks {
  /** As the checkpoint has them, in words of 32 bits. */
  words: Uint32Array;
  zeroWords: Uint32Array;
  /** [groups, rows] */
  scales: Float32Array;
}

export interface BlockSizes extends Pick<QuantizedBlocks, 'layout' | 'group' | 'zeroShift'> {
  rows: number;
  columns: number;
  /** Columns that share a scale in what is made: a part of a group. */
  block: number;
}

/** The same matrix in the layout of ONNX Runtime's MatMulNBits. */
export interface RepackedBlocks {
  /** [rows, columns / 2]: the first of a pair in the low half */
  data: Uint8Array;
  /** [rows, blocks] */
  scales: Float32Array;
  /** [rows, half the blocks, rounded up]: the first of a pair in the low half */
  zeros: Uint8Array;
}

/** Places of the integers of a word in the checkpoint, from the lowest bits on. */
const ORDERS = { gptq: [0, 1, 2, 3, 4, 5, 6, 7], awq: [0, 2, 4, 6, 1, 3, 5, 7] } as const;

/** The same integers, scales and zero points in another order: nothing is rounded. */
export function repackBlocks(stored: StoredBlocks, sizes: BlockSizes): RepackedBlocks {
  const { rows, columns, group, block, layout, zeroShift } = sizes;
  const blocks = columns / block;
  const each = group / block;
  const zeros = new Uint8Array(rows * Math.ceil(blocks / 2));
  const scales = new Float32Array(rows * blocks);
  const zeroRow = zeros.length / rows;
  for (let row = 0; row < rows; row++) {
    const shift = 4 * ORDERS[layout].indexOf((row % 8) as 0);
    for (let i = 0; i < blocks; i++) {
      const at = Math.floor(i / each) * rows + row;
      scales[row * blocks + i] = stored.scales[at]!;
      // What is beyond 15 has come around, as in the tools that wrote it.
      const zero = ((stored.zeroWords[at >> 3]! >>> shift) + zeroShift) & 15;
      zeros[row * zeroRow + (i >> 1)]! |= zero << (4 * (i % 2));
    }
  }
  const data = layout === 'gptq' ? fromColumns(stored.words, sizes) : fromTurned(stored.words, sizes);
  return { data, scales, zeros };
}

/** Eight integers of a row are a word in both: words [columns / 8, rows] are turned. */
function fromColumns(words: Uint32Array, { rows, columns }: BlockSizes): Uint8Array {
  const wide = columns / 8;
  const turned = new Uint32Array(words.length);
  for (let i = 0; i < wide; i++)
    for (let row = 0; row < rows; row++) turned[row * wide + i] = words[i * rows + row]!;
  return new Uint8Array(turned.buffer);
}

function fromTurned(words: Uint32Array, { rows, columns }: BlockSizes): Uint8Array {
  const data = new Uint8Array((rows * columns) / 2);
  const wide = rows / 8;
  for (let column = 0; column < columns; column++) {
    for (let i = 0; i < wide; i++) {
      const word = words[column * wide + i]!;
      ORDERS.awq.forEach((place, j) => {
        const at = ((8 * i + place) * columns + column) >> 1;
        data[at]! |= ((word >>> (4 * j)) & 15) << (4 * (column % 2));
      });
    }
  }
  return data;
}
