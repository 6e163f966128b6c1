import {
  FLOATS_OF_A_SCALE,
  type GgmlBlocks,
  type PackedBlocks,
  type QuantizedBlocks,
} from '../../weights/index.js';
import { keyOf, packedLengths, type PackedPlace, type Packing, type Part, partOf } from './packed-layout.js';
import type { NamedTensor } from './weights.js';

interface RowForm extends Pick<Packing, 'bits' | 'block'> {
  /** Each number is the sum of two integers. */
  inTwo: boolean;
}

export interface NewFile {
  file: string;
  /** Finds room for so many bytes. */
  reserve(length: number): number;
  /** The part of a tensor, made the first time. */
  known(key: string, make: () => Part): Part;
}

/** Where matrices lie that others have packed. */
export function repackedIn({
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
