import { elementsOf } from '../weights/elements.js';
import { quoted } from '../weights/errors.js';
import type { GgmlType } from './blocks.js';
import type { Refuse } from './refusal.js';
import type { GgufTensor } from './types.js';

/** A tensor as its header describes it, not looked at yet. */
export interface Unplaced {
  name: string;
  /** The fastest one first. */
  sizes: readonly bigint[];
  type: GgmlType;
  /** From the beginning of the data. */
  offset: bigint;
}

export interface Layout {
  alignment: number;
  dataOffset: number;
  /** Of the file. */
  size: number;
}

/**
 * The tensors with their places in the file, in the order of the header: rows are whole blocks, places are aligned, in the
 * file, and none lies in another one.
 * @throws WeightsError
 */
export function placed(tensors: readonly Unplaced[], layout: Layout, refuse: Refuse): GgufTensor[] {
  const found = tensors.map((tensor) => placeOf(tensor, layout, refuse));
  let before: GgufTensor | undefined;
  for (const tensor of [...found].sort((a, b) => a.offset - b.offset || a.length - b.length)) {
    const end = before ? before.offset + before.length : layout.dataOffset;
    if (tensor.offset < end)
      throw refuse(
        'tensor-overlap',
        `has tensor ${quoted(tensor.name)} at ${tensor.offset}, where another one lies up to ${end}`,
      );
    before = tensor;
  }
  return found;
}

function placeOf({ name, sizes, type, offset }: Unplaced, layout: Layout, refuse: Refuse): GgufTensor {
  const shape = sizes.map(Number).toReversed();
  const count = elementsOf(shape);
  const row = shape.at(-1) ?? 1;
  if (count === undefined || !shape.every(Number.isSafeInteger))
    throw refuse(
      'tensor-size',
      `has tensor ${quoted(name)} of [${shape.join(', ')}], more than any file holds`,
    );
  if (row % type.numbers !== 0)
    throw refuse(
      'tensor-size',
      `has tensor ${quoted(name)} as ${type.name} with ${row} columns, which are no blocks of ${type.numbers}`,
    );
  const length = (count / type.numbers) * type.bytes;
  const at = Number(offset) + layout.dataOffset;
  if (Number(offset) % layout.alignment !== 0)
    throw refuse(
      'alignment',
      `has tensor ${quoted(name)} at ${offset}, not at a multiple of ${layout.alignment}`,
    );
  if (at + length > layout.size)
    throw refuse(
      'file-length',
      `is cut off: tensor ${quoted(name)} ends at ${at + length}, and the file at ${layout.size}`,
    );
  return { name, shape, type: type.name, offset: at, length };
}
