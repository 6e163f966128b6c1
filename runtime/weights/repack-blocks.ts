import type { QuantizedBlocks } from './types.js';

export interface StoredBlocks {
  /** As the checkpoint has them, in words of 32 bits. */
  words: Uint32Array;
  zeroWords: Uint32Array;
  /** [groups, rows] */
  scales: Float32Array;
  /** The stored column at each place, those of a group side by side; all at their own if absent. */
  order?: Uint32Array | undefined;
}

export interface BlockSizes extends Pick<QuantizedBlocks, 'layout' | 'bits' | 'group' | 'zeroShift'> {
  rows: number;
  columns: number;
  /** Columns that share a scale in what is made: a part of a group. */
  block: number;
}

/** The same matrix in the layout of ONNX Runtime's MatMulNBits: of four bits, the first of a pair is in the low half. */
export interface RepackedBlocks {
  /** [rows, bytes of all columns] */
  data: Uint8Array;
  /** [rows, blocks] */
  scales: Float32Array;
  /** [rows, bytes of all blocks] */
  zeros: Uint8Array;
}

/** Places of the integers of a word in the checkpoint, from the lowest bits on. */
const ORDERS = { gptq: [0, 1, 2, 3, 4, 5, 6, 7], awq: [0, 2, 4, 6, 1, 3, 5, 7] } as const;

/** The same integers, scales and zero points in another order: nothing is rounded. */
export function repackBlocks(stored: StoredBlocks, sizes: BlockSizes): RepackedBlocks {
  const { rows, columns, bits, group, block, layout, zeroShift } = sizes;
  const blocks = columns / block;
  const each = group / block;
  const inWord = 32 / bits;
  const most = 2 ** bits - 1;
  const zeros = new Uint8Array(rows * Math.ceil((blocks * bits) / 8));
  const scales = new Float32Array(rows * blocks);
  const zeroRow = zeros.length / rows;
  for (let row = 0; row < rows; row++) {
    const shift = bits * ORDERS[layout].indexOf((row % inWord) as 0);
    for (let i = 0; i < blocks; i++) {
      const at = Math.floor(i / each) * rows + row;
      scales[row * blocks + i] = stored.scales[at]!;
      // What is beyond the largest has come around, as in the tools that wrote it.
      const zero = ((stored.zeroWords[Math.floor(at / inWord)]! >>> shift) + zeroShift) & most;
      if (bits === 8) zeros[row * zeroRow + i] = zero;
      else zeros[row * zeroRow + (i >> 1)]! |= zero << (4 * (i % 2));
    }
  }
  const data = layout === 'gptq' ? fromColumns(stored, sizes) : fromTurned(stored.words, sizes);
  return { data, scales, zeros };
}

/** Integers of a row that follow each other are a word in both, if no column moves: words [columns / 8, rows] are turned. */
function fromColumns({ words, order }: StoredBlocks, { rows, columns, bits }: BlockSizes): Uint8Array {
  const inWord = 32 / bits;
  const wide = columns / inWord;
  const turned = new Uint32Array(words.length);
  if (!order) {
    for (let i = 0; i < wide; i++)
      for (let row = 0; row < rows; row++) turned[row * wide + i] = words[i * rows + row]!;
    return new Uint8Array(turned.buffer);
  }
  const mask = 2 ** bits - 1;
  order.forEach((from, to) => {
    const [source, target] = [Math.floor(from / inWord) * rows, Math.floor(to / inWord)];
    const [down, up] = [bits * (from % inWord), bits * (to % inWord)];
    for (let row = 0; row < rows; row++)
      turned[row * wide + target]! |= ((words[source + row]! >>> down) & mask) << up;
  });
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
