/** Types of elements that graphs can use in place, by their names in safetensors. */
export type WeightType = 'F64' | 'F32' | 'F16' | 'BF16' | 'I64' | 'I32' | 'I16' | 'I8' | 'U8' | 'BOOL';

/** Where a tensor lies: contiguous, row-major, little-endian, `length` = product of `shape` × size of `type`. */
export interface StoredTensor {
  /** Path in the repository. */
  file: string;
  /** Of its first byte, in the file. */
  offset: number;
  /** In bytes. */
  length: number;
  /** A WeightType, or another one by its name in safetensors (such as F8_E4M3), which whoever uses it refuses. */
  type: string;
  shape: readonly number[];
  /** What is added to it before it is used, in a file that is made of it. */
  merge?: LowRankMerge;
  /** How its rows or numbers differ from those of transformers, which is undone in a file that is made of it. */
  change?: StoredChange;
  /** What its integers stand for: a matrix that another tool has packed, whose `shape` is that of the matrix. */
  blocks?: PackedBlocks;
}

/**
 * `rows`: those of each head stand in pairs that rotate together, [width / 2, 2] instead of [2, width / 2]. `add`: what is added to
 * every number. `frames`: so many tensors one behind the other, each [outputs, channels, …], which make one [outputs, channels, frames, …].
 */
export type StoredChange =
  { kind: 'rows'; heads: number } | { kind: 'add'; value: number } | { kind: 'frames'; count: number };

export type PackedBlocks = QuantizedBlocks | FloatBlocks | RowBlocks | GgmlBlocks;

/** A matrix [rows, columns], or a stack of them, in blocks of a type of ggml, one after the other: (integer · scale) + offset. */
export interface GgmlBlocks {
  layout: 'ggml';
  /** Of ggml: `Q4_K`. */
  type: string;
  /** Of the integers that products read. */
  bits: 4 | 8;
  /** Columns that share a scale, and an offset. */
  group: number;
  /** False where all offsets are zero. */
  hasOffsets: boolean;
}

/**
 * A matrix [rows, columns] as (integer - 2^(bits - 1)) · scale, as products read it: I32 [rows, columns · bits / 32], the first
 * integer of a row in the lowest bits.
 */
export interface RowBlocks {
  layout: 'rows';
  bits: 4 | 8;
  /** Columns of a group. */
  group: number;
  /** floats [rows, groups] */
  scales: StoredTensor;
}

/**
 * A matrix [rows, columns], or a stack of them, as floats of four bits (E2M1), two in a byte, the first in its low half, as
 * U8 [rows, columns / 32, 16]; each 32 of a row are multiplied with a power of two.
 */
export interface FloatBlocks {
  layout: 'mxfp4';
  /** U8 [rows, columns / 32]: powers + 127 */
  scales: StoredTensor;
}

/**
 * A matrix [rows, columns] as (integer - zero point) · scale, integers of four or eight bits, eight or four in an I32, the
 * first in the lowest bits. `gptq`: those of a column, I32 [columns / 8, rows]. `awq`: those of a row of the turned matrix,
 * I32 [columns, rows / 8], of four bits, in the order 0 2 4 6 1 3 5 7. A group is so many columns that share scale and zero
 * point.
 */
export interface QuantizedBlocks {
  layout: 'gptq' | 'awq';
  bits: 4 | 8;
  /** Columns of a group. */
  group: number;
  /** What is added to stored zero points: the first format of GPTQ has them less 1. */
  zeroShift: 0 | 1;
  /** floats [groups, rows] */
  scales: StoredTensor;
  /** I32 [groups, rows / 8], eight of a row in the order of the layout */
  zeros: StoredTensor;
  /** I32 [columns]: the group of each column. */
  groupOf?: StoredTensor | undefined;
  /** True where columns of a group need not follow each other: `groupOf` tells which they are. */
  reordered: boolean;
}

/** scale · up · down, the product of an adapter (LoRA) for a matrix. */
export interface LowRankMerge {
  /** [rank, inputs] */
  down: StoredTensor;
  /** [outputs, rank] */
  up: StoredTensor;
  scale: number;
  /** True where the matrix is stored as [inputs, outputs], not as [outputs, inputs]. */
  transposed: boolean;
}

/** The tensors of a checkpoint by name, without their data. */
export type WeightIndex = ReadonlyMap<string, StoredTensor>;

export interface WeightFile {
  /** Path in the repository. */
  path: string;
  /** In bytes. */
  size: number;
}

/** Files of a repository that can be read in parts: on a hub by HTTP ranges, or in a local folder. */
export interface RangeSource {
  /** All files of the repository; their paths are safe. */
  files: readonly WeightFile[];
  /** Exactly `length` bytes from `offset`; the caller keeps both inside the file. May be called concurrently. */
  read(path: string, offset: number, length: number, signal?: AbortSignal): Promise<Uint8Array>;
}
