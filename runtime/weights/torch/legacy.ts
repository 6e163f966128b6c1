import { byteLength } from '../elements.js';
import { CONVERT_REMEDY, DAMAGED_REMEDY, quoted, WeightsError } from '../errors.js';
import { inParallel } from '../in-parallel.js';
import type { RangeFile } from '../read-ranges.js';
import type { StoredTensor } from '../types.js';
import { OPCODES } from './opcodes.js';
import { PickleBytes, PickleEnd } from './pickle-bytes.js';
import { failure, placeOf, tensorsOf } from './tensors.js';
import { MAX_PICKLE_BYTES, unpickleNext } from './unpickle.js';
import { Dict, type Storage, type Tensor, type Value } from './values.js';

/** Pickles of torch's magic number, and of the version of its protocol. Source: torch/serialization.py, _legacy_save. */
const MAGIC = Buffer.from('80028a0a6cfc9c46f9206aa850192e', 'hex');
const VERSION = Buffer.from('80024de9032e', 'hex');
const START = MAGIC.length + VERSION.length;

/** Bytes of a storage's number of elements, which stands before them. */
const COUNT_BYTES = 8;
/** First part of the file that is read for its pickles; doubled where they are longer. */
const FIRST_PART = 128 * 1024;
const PARALLEL_READS = 8;

export const isLegacy = (head: Buffer): boolean => head.subarray(0, MAGIC.length).equals(MAGIC);

interface Pickles {
  tensors: [string, Tensor][];
  /** Of the storages, in their order in the file. */
  keys: string[];
  /** Where the storages begin. */
  end: number;
}

/**
 * The tensors of a file that torch wrote from a state dict before version 1.6: pickles (magic number, version, system, state
 * dict, keys of the storages), and behind them each storage with its number of elements.
 * @throws WeightsError
 */
export async function readLegacyIndex(file: RangeFile): Promise<[string, StoredTensor][]> {
  const { tensors, keys, end } = await readPickles(file);
  const places = placesOf(file, keys, { tensors, end });
  await checkCounts(file, places);
  return tensors.map(([name, tensor]) => {
    const place = places.get(tensor.storage.key);
    if (!place) throw failure(file, 'storage', `lacks the data of ${quoted(name)}`);
    return [name, placeOf(file, name, tensor, place)];
  });
}

async function readPickles(file: RangeFile): Promise<Pickles> {
  for (let length = FIRST_PART; ; length *= 2) {
    const part = await file.read(0, Math.min(length, file.size));
    try {
      return await parse(file, part);
    } catch (error) {
      if (!(error instanceof PickleEnd)) throw error;
      if (part.length === file.size) throw failure(file, 'pickle-damaged', 'ends in the middle of its index');
      if (length >= MAX_PICKLE_BYTES) throw tooLong(file);
    }
  }
}

const tooLong = (file: RangeFile): WeightsError =>
  failure(file, 'pickle-limit', `has an index of more than ${MAX_PICKLE_BYTES} bytes`, CONVERT_REMEDY);

async function parse(file: RangeFile, bytes: Buffer): Promise<Pickles> {
  if (!bytes.subarray(MAGIC.length, START).equals(VERSION))
    throw failure(file, 'legacy-pickle', 'has a version of torch’s format that is not known', CONVERT_REMEDY);
  const pickle = new PickleBytes(bytes, START);
  checkSystem(file, await unpickleNext(file.path, pickle));
  const tensors = tensorsOf(file, await unpickleNext(file.path, pickle));
  const keys = readKeys(file, pickle);
  return { tensors, keys, end: pickle.position };
}

function checkSystem(file: RangeFile, system: Value): void {
  if (system instanceof Dict && system.entries.get('little_endian') === true) return;
  throw failure(file, 'byte-order', 'does not say that its numbers are little-endian', CONVERT_REMEDY);
}

/** A list of texts, which state dicts don't have: its pickle has these opcodes alone. */
function readKeys(file: RangeFile, pickle: PickleBytes): string[] {
  const keys = new Set<string>();
  let found = 0;
  for (;;) {
    const opcode = pickle.byte();
    if (opcode === OPCODES.STOP) break;
    if (opcode === OPCODES.PROTO || opcode === OPCODES.BINPUT) pickle.byte();
    else if (opcode === OPCODES.LONG_BINPUT) pickle.unsigned(4);
    else if (opcode === OPCODES.BINUNICODE) {
      keys.add(pickle.text(pickle.unsigned(4)));
      found++;
    } else if (![EMPTY_LIST, APPEND, APPENDS, OPCODES.MARK].includes(opcode))
      throw failure(file, 'pickle-opcode', 'has a list of storages that is not one of texts', CONVERT_REMEDY);
  }
  if (found === keys.size) return [...keys];
  throw failure(file, 'duplicate-name', 'lists a storage twice');
}

const [EMPTY_LIST, APPEND, APPENDS] = [0x5d, 0x61, 0x65];

interface Place {
  offset: number;
  length: number;
  /** Number of elements that must stand before it. */
  count: number;
}

/** One behind the other, up to the end of the file. */
function placesOf(
  file: RangeFile,
  keys: readonly string[],
  { tensors, end }: Pick<Pickles, 'tensors' | 'end'>,
): Map<string, Place> {
  const storages = new Map<string, Storage>(tensors.map(([, { storage }]) => [storage.key, storage]));
  const places = new Map<string, Place>();
  let at = end;
  for (const key of keys) {
    const storage = storages.get(key);
    const length = storage?.type === undefined ? undefined : byteLength(storage.type, [storage.count]);
    if (!storage || length === undefined)
      throw failure(file, 'storage', `has a storage ${quoted(key)} that no tensor is in`, CONVERT_REMEDY);
    places.set(key, { offset: at + COUNT_BYTES, length, count: storage.count });
    at += COUNT_BYTES + length;
    if (!Number.isSafeInteger(at) || at > file.size)
      throw failure(file, 'storage', `ends before the data of its storage ${quoted(key)}`);
  }
  if (at < file.size)
    throw new WeightsError(file.path, {
      code: 'storage',
      what: `has ${file.size - at} bytes behind its last storage`,
      remedy: DAMAGED_REMEDY,
    });
  return places;
}

async function checkCounts(file: RangeFile, places: ReadonlyMap<string, Place>): Promise<void> {
  await inParallel(PARALLEL_READS, undefined, [...places], async ([key, { offset, count }]) => {
    const announced = (await file.read(offset - COUNT_BYTES, COUNT_BYTES)).readBigInt64LE();
    if (announced === BigInt(count)) return;
    throw failure(
      file,
      'storage',
      `has ${announced} elements in storage ${quoted(key)}, and its index says ${count}`,
    );
  });
}
