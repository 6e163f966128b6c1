import {
  byteLength,
  FLOATS_OF_A_SCALE,
  type GgmlBlocks,
  type PackedBlocks,
  type QuantizedBlocks,
} from '../../weights/index.js';
import {
  chooseFormats,
  type MatrixToPack,
  type PackedFormat,
  type PackedLevel,
  plainFormat,
} from './packed-format.js';
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

/** Decides where graphs read weights from. */
export interface Storage {
  place(tensor: NamedTensor): Place;
  /** Undefined where the matrix is read as it is. */
  pack(tensor: NamedTensor, use: MatrixUse): PackedPlace | undefined;
}

export interface MatrixUse {
  /** `table`: rows are looked up. */
  kind: 'matrix' | 'table';
  /** It holds a vector for each token, to be looked up or for an answer's scores. */
  isTable: boolean;
  /** Stored as [columns, rows]; what another tool has packed is not, whatever it was before. */
  transposed: boolean;
  /** Not packed here: what it decides is a choice, and it is small. */
  isExact?: boolean;
}

/** Weights stay in the files of the checkpoint. */
export const inPlace: Storage = {
  place: ({ file, offset, length }) => ({ file, offset, length }),
  pack: () => undefined,
};

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

/** How a file of packed or merged weights is made: the same recipe over the same checkpoint gives the same bytes. */
export interface Recipe {
  /** Name of the file. */
  file: string;
  /** In bytes. */
  size: number;
  /** That were asked for packed matrices; absent where all tensors keep their types. */
  bits?: PackedLevel | undefined;
  parts: readonly Part[];
}

/** Borders of tensors in the file. */
const ALIGNMENT = 64;
/** Smaller matrices gain nothing. */
const LEAST_NUMBERS = 1024;
/** Narrower ones would be filled up to more than they are. */
const LEAST_COLUMNS = 16;

/** Blocks of a row; the last one is filled up with zeros. */
export const blocksOf = (columns: number, block: number): number => Math.ceil(columns / block);

interface RowForm extends Pick<Packing, 'bits' | 'block'> {
  /** Each number is the sum of two integers. */
  inTwo: boolean;
}

/** By the matrix. */
export type Formats = ReadonlyMap<string, PackedFormat>;

/** A storage in one new file. */
export interface FileStorage extends Storage {
  recipe(): Recipe;
  /** The format that serves each matrix best within the level, once graphs are written: for those who write them again. */
  formats(budget?: number): Formats;
}

/**
 * All weights in one new file, matrices packed to so many bits a weight, if any.
 * @param chosen formats of matrices, which those who write graphs first don't know yet: all have the same then
 */
export function packedStorage(file: string, bits: PackedLevel | undefined, chosen?: Formats): FileStorage {
  const seen = new Map<string, MatrixToPack>();
  const parts = new Map<string, Part>();
  let size = 0;
  const reserve = (length: number): number => {
    const offset = Math.ceil(size / ALIGNMENT) * ALIGNMENT;
    size = offset + length;
    return offset;
  };
  const known = (key: string, make: () => Part): Part => {
    const part = parts.get(key) ?? make();
    parts.set(key, part);
    return part;
  };
  const repacked = repackedIn({ file, reserve, known });
  return {
    place(tensor) {
      // Blocks that are read whole are floats then.
      const length = tensor.blocks ? byteLength('F32', tensor.shape)! : tensor.length;
      const { offset } = known(keyOf(tensor), () => ({ tensor, offset: reserve(length) }));
      return { file, offset, length };
    },
    pack(tensor, { kind, isTable, transposed, isExact = false }) {
      if (tensor.blocks?.layout === 'ggml') return repacked(tensor, tensor.blocks);
      if (tensor.blocks) return kind === 'table' ? undefined : repacked(tensor, tensor.blocks);
      if (bits === undefined || isExact) return undefined;
      const [rows, columns] = matrixSize(tensor, transposed);
      if (columns < LEAST_COLUMNS || rows * columns < LEAST_NUMBERS) return undefined;
      const key = `${keyOf(tensor)} ${transposed}`;
      const isMultiplied = kind === 'matrix' || seen.get(key)?.isMultiplied === true;
      seen.set(key, { name: tensor.name, rows, columns, isTable, isMultiplied });
      const format = chosen?.get(key) ?? plainFormat(bits);
      const { bits: own, block, zeros: hasZeros, narrow } = format;
      // What rows of tables are looked up by takes whole blocks only.
      if (isTable && columns % block !== 0) return undefined;
      const lengths = packedLengths(rows, columns, format);
      if (narrow) lengths.scales /= 4;
      const packing: Packing = { bits: own, block, transposed };
      const part = known(`${keyOf(tensor)} ${own} ${transposed}`, () => ({
        ...{ tensor, packing, offset: reserve(lengths.data), scalesOffset: reserve(lengths.scales) },
        ...(narrow && { rowScalesOffset: reserve(2 * rows) }),
        ...(hasZeros && { zerosOffset: reserve(lengths.zeros) }),
      }));
      const { offset, scalesOffset, rowScalesOffset, zerosOffset } = part;
      return {
        ...packing,
        data: { file, offset, length: lengths.data },
        scales: { file, offset: scalesOffset!, length: lengths.scales },
        ...(rowScalesOffset !== undefined && {
          rowScales: { file, offset: rowScalesOffset, length: 2 * rows },
        }),
        ...(zerosOffset !== undefined && { zeros: { file, offset: zerosOffset, length: lengths.zeros } }),
      };
    },
    formats(budget) {
      const formats = chooseFormats([...seen.values()], bits ?? 8, budget);
      return new Map([...seen.keys()].map((key, i) => [key, formats[i]!]));
    },
    recipe: () => ({ file, size, bits, parts: [...parts.values()] }),
  };
}

interface NewFile {
  file: string;
  /** Finds room for so many bytes. */
  reserve(length: number): number;
  /** The part of a tensor, made the first time. */
  known(key: string, make: () => Part): Part;
}

/** Where matrices lie that others have packed. */
function repackedIn({
  file,
  reserve,
  known,
}: NewFile): (tensor: NamedTensor, blocks: PackedBlocks) => PackedPlace {
  /** Of a matrix whose zero points are in the middle. */
  const repackedRows = (tensor: NamedTensor, { bits: own, block, inTwo }: RowForm): PackedPlace => {
    const [rows, columns] = tensor.shape as [number, number];
    const packing: Packing = { bits: own, block, transposed: false };
    const length = (rows * columns * own) / 8;
    const scales = (4 * rows * columns) / block;
    const part = known(`${keyOf(tensor)} rows`, () => ({
      ...{ tensor, packing, offset: reserve(length), scalesOffset: reserve(scales) },
      restOffset: inTwo ? reserve(length) : undefined,
    }));
    return {
      ...{ ...packing, isRepacked: true },
      data: { file, offset: part.offset, length },
      scales: { file, offset: part.scalesOffset!, length: scales },
      rest: part.restOffset === undefined ? undefined : { file, offset: part.restOffset, length },
    };
  };
  const repackedIntegers = (tensor: NamedTensor, blocked: QuantizedBlocks): PackedPlace => {
    const { group, bits: own, reordered } = blocked;
    const [rows, columns] = tensor.shape as [number, number];
    const block = partOf(group)!;
    const lengths = { ...packedLengths(rows, columns, { bits: own, block }), order: 8 * columns };
    const packing: Packing = { bits: own, block, transposed: false };
    const part = known(`${keyOf(tensor)} blocks`, () => ({
      ...{ tensor, packing, offset: reserve(lengths.data) },
      ...{ scalesOffset: reserve(lengths.scales), zerosOffset: reserve(lengths.zeros) },
      orderOffset: reordered ? reserve(lengths.order) : undefined,
    }));
    return {
      ...{ ...packing, isRepacked: true },
      data: { file, offset: part.offset, length: lengths.data },
      scales: { file, offset: part.scalesOffset!, length: lengths.scales },
      zeros: { file, offset: part.zerosOffset!, length: lengths.zeros },
      order:
        part.orderOffset === undefined
          ? undefined
          : { file, offset: part.orderOffset, length: lengths.order },
    };
  };
  const ggml = (tensor: NamedTensor, { bits: own, group: block, hasOffsets }: GgmlBlocks): PackedPlace => {
    const [rows, columns] = tensor.shape as [number, number];
    const packing: Packing = { bits: own, block, transposed: false };
    const lengths = packedLengths(rows, columns, packing);
    const part = known(`${keyOf(tensor)} ggml`, () => ({
      ...{ tensor, packing, offset: reserve(lengths.data), scalesOffset: reserve(lengths.scales) },
      addedOffset: hasOffsets ? reserve(lengths.scales) : undefined,
    }));
    return {
      ...packing,
      data: { file, offset: part.offset, length: lengths.data },
      scales: { file, offset: part.scalesOffset!, length: lengths.scales },
      offsets:
        part.addedOffset === undefined
          ? undefined
          : { file, offset: part.addedOffset, length: lengths.scales },
    };
  };
  return (tensor, blocks) => {
    if (blocks.layout === 'ggml') return ggml(tensor, blocks);
    if (blocks.layout === 'mxfp4')
      return repackedRows(tensor, { bits: 4, block: FLOATS_OF_A_SCALE, inTwo: true });
    if (blocks.layout !== 'rows') return repackedIntegers(tensor, blocks);
    return repackedRows(tensor, { bits: blocks.bits, block: partOf(blocks.group)!, inTwo: false });
  };
}

/** Bytes of a packed matrix and of what belongs to its blocks. */
function packedLengths(rows: number, columns: number, { bits, block }: Pick<Packing, 'bits' | 'block'>) {
  const blocks = blocksOf(columns, block);
  return {
    data: (rows * blocks * block * bits) / 8,
    scales: byteLength('F32', [rows, blocks])!,
    zeros: rows * Math.ceil((blocks * bits) / 8),
  };
}

/** Columns of a block that a group is made of: what MatMulNBits takes. Undefined where there are none. */
export const partOf = (group: number): number | undefined =>
  [128, 64, 32, 16].find((block) => group % block === 0);

/** Networks of one repository may have tensors of one name. */
const keyOf = ({ file, name }: NamedTensor): string => `${file} ${name}`;

/** Rows and columns of a matrix as products read it. */
export function matrixSize({ shape }: NamedTensor, transposed: boolean): [rows: number, columns: number] {
  const [first, second] = shape as [number, number];
  return transposed ? [second, first] : [first, second];
}
