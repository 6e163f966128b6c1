import { byteLength } from '../../weights/index.js';
import type { Place } from './tensors.js';
import type { NamedTensor } from './weights.js';

/** A matrix [rows, columns] in blocks of small integers along its rows. */
export interface Packing {
  bits: 4 | 8;
  /** Columns that share a scale. */
  block: number;
  /** True where the checkpoint has it as [columns, rows]. */
  transposed: boolean;
}

export interface PackedPlace extends Packing {
  /** uint8 [rows, blocks, bytes of a block]: values + 2^(bits - 1), the first of a pair in the low half. */
  data: Place;
  /** float32 [rows, blocks]; uint8 where rows have scales of their own. */
  scales: Place;
  /** bfloat16 [rows, 1]: what the scales of a row's blocks are multiplied with. */
  rowScales?: Place | undefined;
  /** Integers that are added to the others before the scale, in the same layout. */
  rest?: Place | undefined;
  /** True for what another tool has packed: products take floats, as its own library does. */
  isRepacked?: boolean;
  /** uint8 [rows, bytes of all blocks' zero points]; absent where it is 2^(bits - 1) for all. */
  zeros?: Place | undefined;
  /** int64 [columns]: which column of the input each one is multiplied with; absent where it is the one of its own place. */
  order?: Place | undefined;
  /** float32 [rows, blocks]: what is added to the numbers of each block; absent where nothing is. */
  offsets?: Place | undefined;
}

/** One tensor of a file that is made of a checkpoint. */
export interface Part {
  tensor: NamedTensor;
  /** Copied as it is where there is no packing. */
  packing?: Packing;
  /** In the file that is made: of the tensor, or of the packed data. */
  offset: number;
  /** Of the packed data's scales. */
  scalesOffset?: number;
  /** Of the scales of its rows, where those of blocks are parts of them. */
  rowScalesOffset?: number;
  /** Of a second part of its integers. */
  restOffset?: number | undefined;
  /** Of its zero points, where not all are in the middle. */
  zerosOffset?: number | undefined;
  /** Of the order of its columns, where they are grouped in another one than their own. */
  orderOffset?: number | undefined;
  /** Of what is added to the numbers of its blocks. */
  addedOffset?: number | undefined;
}

/** Blocks of a row; the last one is filled up with zeros. */
export const blocksOf = (columns: number, block: number): number => Math.ceil(columns / block);

/** A matrix in blocks. */
interface BlockForm extends Pick<Packing, 'bits' | 'block'> {
  /** Scales of blocks have eight bits, and rows have scales of their own. */
  narrow?: boolean;
}

/** Bytes of a packed matrix and of what belongs to its blocks and rows. */
export function packedLengths(rows: number, columns: number, { bits, block, narrow = false }: BlockForm) {
  const blocks = blocksOf(columns, block);
  return {
    data: (rows * blocks * block * bits) / 8,
    scales: byteLength(narrow ? 'U8' : 'F32', [rows, blocks])!,
    rowScales: byteLength('BF16', [rows])!,
    zeros: rows * Math.ceil((blocks * bits) / 8),
  };
}

/** Columns of a block that a group is made of: what MatMulNBits takes. Undefined where there are none. */
export const partOf = (group: number): number | undefined =>
  [128, 64, 32, 16].find((block) => group % block === 0);

/** Networks of one repository may have tensors of one name. */
export const keyOf = ({ file, name }: NamedTensor): string => `${file} ${name}`;

/** Rows and columns of a matrix as products read it. */
export function matrixSize({ shape }: NamedTensor, transposed: boolean): [rows: number, columns: number] {
  const [first, second] = shape as [number, number];
  return transposed ? [second, first] : [first, second];
}
