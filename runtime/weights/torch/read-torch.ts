import { CONVERT_REMEDY, quoted, type WeightsError } from '../errors.js';
import { type RangeFile, refuseLfsPointer, withEnds } from '../read-ranges.js';
import type { StoredTensor } from '../types.js';
import { isLegacy, readLegacyIndex } from './legacy.js';
import { failure, placeOf, tensorsOf } from './tensors.js';
import { MAX_PICKLE_BYTES, unpickle } from './unpickle.js';
import type { Tensor } from './values.js';
import { locateData } from './zip-data.js';
import { readZipDirectory, type ZipDirectory, type ZipEntry } from './zip-directory.js';

/** Enough for the index of most models, which comes first, and for the directory, which comes last. */
const [HEAD_BYTES, TAIL_BYTES] = [32 * 1024, 16 * 1024];
const ZIP = Buffer.from('PK\x03\x04');

/**
 * The tensors of a file that `torch.save` wrote from a state dict: a zip archive with `data.pkl`, the index, and the storages
 * stored as they are in `data/<key>`; before torch 1.6 a sequence of pickles (legacy.ts).
 * @throws WeightsError
 */
export async function readTorchIndex(archive: RangeFile): Promise<[string, StoredTensor][]> {
  const { file, head } = await withEnds(archive, HEAD_BYTES, TAIL_BYTES);
  refuseLfsPointer(file.path, head);
  if (isLegacy(head)) return readLegacyIndex(file);
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

function notAnArchive(file: RangeFile): WeightsError {
  const what = 'is nothing that torch.save writes for a state dict';
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
  return tensorsOf(file, await unpickle(file.path, await readEntry(file, directory, entry)));
}
