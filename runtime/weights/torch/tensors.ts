import { byteLength, bitsOf, elementsOf, MAX_RANK } from '../elements.js';
import { CONVERT_REMEDY, DAMAGED_REMEDY, quoted, WeightsError, type WeightsErrorCode } from '../errors.js';
import type { RangeFile } from '../read-ranges.js';
import type { StoredTensor } from '../types.js';
import { notStateDict } from './unpickle.js';
import { Dict, kindOf, type Storage, Tensor, type Value } from './values.js';
import type { ZipData } from './zip-data.js';

export function failure(
  { path }: Pick<RangeFile, 'path'>,
  code: WeightsErrorCode,
  what: string,
  remedy = DAMAGED_REMEDY,
): WeightsError {
  return new WeightsError(path, { code, what, remedy });
}

/** The tensors of a state dict, by their names. @throws WeightsError for everything else */
export function tensorsOf({ path }: Pick<RangeFile, 'path'>, value: Value): [string, Tensor][] {
  if (!(value instanceof Dict)) throw notStateDict(path, `holds ${kindOf(value)}, not a state dict`);
  return [...value.entries].map(([name, tensor]) => {
    if (tensor instanceof Tensor) return [name, tensor];
    throw notStateDict(path, `is no state dict: ${quoted(name)} is ${kindOf(tensor)}, not a tensor`);
  });
}

/**
 * Where a tensor lies.
 * @param data of its storage
 * @throws WeightsError for one that is not contiguous, or lies beyond its storage
 */
export function placeOf(
  file: RangeFile,
  name: string,
  tensor: Tensor,
  data: Pick<ZipData, 'offset' | 'length'>,
): StoredTensor {
  const { storage, type } = tensor;
  const { offset, shape, strides } = tensor.view;
  checkStorage(file, name, storage, data.length);
  if (!isContiguous(shape, strides))
    throw failure(
      file,
      'strides',
      `has ${quoted(name)} as a view that is not contiguous (strides ${strides.join(', ')}), so that it can't be used in place`,
      CONVERT_REMEDY,
    );
  const length = byteLength(type, shape);
  const start = (offset * bitsOf(type)!) / 8;
  if (
    shape.length > MAX_RANK ||
    length === undefined ||
    !Number.isSafeInteger(start) ||
    start + length > data.length
  )
    throw failure(
      file,
      'tensor-size',
      `has ${quoted(name)} as ${type} [${shape.slice(0, 8).join(', ')}] at ${start}, beyond its ${data.length} bytes`,
    );
  return { file: file.path, offset: data.offset + start, length, type, shape };
}

/** Its announced elements are the bytes of its entry. */
function checkStorage(
  file: RangeFile,
  name: string,
  { key, type = 'U8', count }: Storage,
  length: number,
): void {
  const announced = byteLength(type, [count]);
  if (announced !== length)
    throw failure(
      file,
      'storage',
      `announces ${count} elements of ${type} for ${quoted(name)}, and data/${quoted(key)} has ${length} bytes`,
    );
}

/** Row-major without gaps. The strides of dimensions of one, and of empty tensors, mean nothing. */
function isContiguous(shape: readonly number[], strides: readonly number[]): boolean {
  if (elementsOf(shape) === 0) return true;
  let expected = 1;
  for (let i = shape.length - 1; i >= 0; i--) {
    if (shape[i] !== 1 && strides[i] !== expected) return false;
    expected *= shape[i]!;
  }
  return true;
}
