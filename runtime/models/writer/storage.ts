import { byteLength } from '../../weights/index.js';
import {
  chooseFormats,
  type MatrixToPack,
  type PackedFormat,
  type PackedLevel,
  plainFormat,
} from './packed-format.js';
import {
  keyOf,
  matrixSize,
  packedLengths,
  type PackedPlace,
  type Packing,
  type Part,
} from './packed-layout.js';
import { repackedIn } from './repacked-storage.js';
import type { Place } from './tensors.js';
import type { NamedTensor } from './weights.js';

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
      const packing: Packing = { bits: own, block, transposed };
      const part = known(`${keyOf(tensor)} ${own} ${transposed}`, () => ({
        ...{ tensor, packing, offset: reserve(lengths.data), scalesOffset: reserve(lengths.scales) },
        ...(narrow && { rowScalesOffset: reserve(lengths.rowScales) }),
        ...(hasZeros && { zerosOffset: reserve(lengths.zeros) }),
      }));
      const { offset, scalesOffset, rowScalesOffset, zerosOffset } = part;
      return {
        ...packing,
        data: { file, offset, length: lengths.data },
        scales: { file, offset: scalesOffset!, length: lengths.scales },
        ...(rowScalesOffset !== undefined && {
          rowScales: { file, offset: rowScalesOffset, length: lengths.rowScales },
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
