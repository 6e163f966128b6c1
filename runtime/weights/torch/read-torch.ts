import { byteLength, bitsOf, elementsOf, MAX_RANK } from '../elements.js';
import { CONVERT_REMEDY, DAMAGED_REMEDY, quoted, WeightsError, type WeightsErrorCode } from '../errors.js';
import { type RangeFile, refuseLfsPointer, withEnds } from '../read-ranges.js';
import type { StoredTensor } from '../types.js';
import { MAX_PICKLE_BYTES, notStateDict, unpickle } from './unpickle.js';
import { Dict, kindOf, type Storage, Tensor } from './values.js';
import { locateData, type ZipData } from './zip-data.js';
import { readZipDirectory, type ZipDirectory, type ZipEntry } from './zip-directory.js';

/** Enough for the index of most models, which comes first, and for the directory, which comes last. */
const [HEAD_BYTES, TAIL_BYTES] = [32 * 1024, 16 * 1024];
const ZIP = Buffer.from('PK\x03\x04');

/**
 * The tensors of a file that `torch.save` wrote from a state dict (torch 1.6 or later): a zip archive with `data.pkl`, the
 * index, and the storages stored as they are in `data/<key>`.
 * @throws WeightsError
 */
export async function readTorchIndex(archive: RangeFile): Promise<[string, StoredTensor][]> {
  const { file, head } = await withEnds(archive, HEAD_BYTES, TAIL_BYTES);
  refuseLfsPointer(file.path, head);
  if (!head.subarray(0, ZIP.length).equals(ZIP)) throw notAnArchive(file);
  const directory = await readZipDirectory(file);
  const root = rootOf(file, directory);
  await checkByteOrder(file, directory, root);
  const tensors = await readStateDict(file, directory, root);
  const entries = tensors.map(([name, { storage }]) =>
    entryOf(file, directory, `${root}data/${storage.key}`, name),
  );
  const places = await locateData(file, directory, entries);
  return tensors.map(([name, tensor], i) => [name, placeOf(file, name, tensor, places[i]!)]);
}

function failure(
  { path }: RangeFile,
  code: WeightsErrorCode,
  what: string,
  remedy = DAMAGED_REMEDY,
): WeightsError {
  return new WeightsError(path, { code, what, remedy });
}

function notAnArchive(file: RangeFile): WeightsError {
  const what = 'is no zip archive: it was written before torch 1.6, or by something else';
  return failure(file, 'legacy-pickle', what, CONVERT_REMEDY);
}

/** The folder in the archive that all is in, with its slash: named after the file that was first written. */
function rootOf(file: RangeFile, { entries }: ZipDirectory): string {
  const found = [...entries.keys()].filter((name) => /^[^/]+\/data\.pkl$/.test(name));
  if (found.length !== 1) throw failure(file, 'zip-damaged', `holds ${found.length} files data.pkl`);
  const root = found[0]!.slice(0, -'data.pkl'.length);
  if (!entries.has(`${root}constants.pkl`)) return root;
  throw failure(file, 'torchscript', 'is a TorchScript program, not a state dict', CONVERT_REMEDY);
}

function entryOf(file: RangeFile, { entries }: ZipDirectory, name: string, tensor: string): ZipEntry {
  const entry = entries.get(name);
  if (entry) return entry;
  throw failure(file, 'storage', `lacks ${quoted(name)}, the data of ${quoted(tensor)}`);
}

/** torch 2.1 and later say it; all others wrote little-endian, but for exotic machines. */
async function checkByteOrder(file: RangeFile, directory: ZipDirectory, root: string): Promise<void> {
  const entry = directory.entries.get(`${root}byteorder`);
  if (!entry) return;
  const order = entry.size < 16 ? (await readEntry(file, directory, entry)).toString('latin1') : '';
  if (order === 'little') return;
  throw failure(file, 'byte-order', `has the byte order ${quoted(order)}, not little-endian`, CONVERT_REMEDY);
}

async function readEntry(file: RangeFile, directory: ZipDirectory, entry: ZipEntry): Promise<Buffer> {
  const [place] = await locateData(file, directory, [entry]);
  return file.read(place!.offset, place!.length);
}

async function readStateDict(
  file: RangeFile,
  directory: ZipDirectory,
  root: string,
): Promise<[string, Tensor][]> {
  const entry = directory.entries.get(`${root}data.pkl`)!;
  if (entry.size > MAX_PICKLE_BYTES)
    throw failure(
      file,
      'pickle-limit',
      `has an index of ${entry.size} bytes, beyond ${MAX_PICKLE_BYTES}`,
      CONVERT_REMEDY,
    );
  const value = await unpickle(file.path, await readEntry(file, directory, entry));
  if (!(value instanceof Dict)) throw notStateDict(file.path, `holds ${kindOf(value)}, not a state dict`);
  return [...value.entries].map(([name, tensor]) => {
    if (tensor instanceof Tensor) return [name, tensor];
    throw notStateDict(file.path, `is no state dict: ${quoted(name)} is ${kindOf(tensor)}, not a tensor`);
  });
}

function placeOf(file: RangeFile, name: string, tensor: Tensor, data: ZipData): StoredTensor {
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
