import { DAMAGED_REMEDY, quoted, WeightsError, type WeightsErrorCode } from '../errors.js';
import type { RangeFile } from '../read-ranges.js';

/**
 * The central directory of a zip archive as torch writes it: at the end, without comments, with or without the records of
 * zip64. Source of the layouts: PKWARE's APPNOTE 6.3.
 */

/** A file in the archive. */
export interface ZipEntry {
  name: string;
  flags: number;
  method: number;
  /** Bytes as stored, and as unpacked. */
  stored: number;
  size: number;
  /** Of the local header in front of the data. */
  headerOffset: number;
}

export interface ZipDirectory {
  entries: ReadonlyMap<string, ZipEntry>;
  /** Where the directory begins and data ends. */
  offset: number;
}

const END_BYTES = 22;
const LOCATOR_BYTES = 20;
const END64_BYTES = 56;
const ENTRY_BYTES = 46;
const [END, LOCATOR, END64, ENTRY] = [0x06054b50, 0x07064b50, 0x06064b50, 0x02014b50];
const [ALL_16, ALL_32] = [0xffff, 0xffffffff];
const ZIP64_FIELD = 1;

/** More than the records at the end; enough for the directory of most models. */
const TAIL_BYTES = 16 * 1024;
/** Some 200,000 entries, which no file has. */
const MAX_DIRECTORY_BYTES = 16 * 2 ** 20;

/** @throws WeightsError */
export async function readZipDirectory(file: RangeFile): Promise<ZipDirectory> {
  const from = Math.max(0, file.size - TAIL_BYTES);
  const tail = await file.read(from, file.size - from);
  const { offset, length, count } = findDirectory(file, tail);
  const bytes =
    offset >= from
      ? tail.subarray(offset - from, offset - from + length)
      : Buffer.concat([
          await file.read(offset, Math.min(length, from - offset)),
          tail.subarray(0, Math.max(0, offset + length - from)),
        ]);
  return { offset, entries: parseEntries(file, bytes, count) };
}

interface Place {
  offset: number;
  length: number;
  count: number;
}

/** @param tail the last bytes of the file */
function findDirectory(file: RangeFile, tail: Buffer): Place {
  const at = tail.length - END_BYTES;
  if (at < 0 || tail.readUInt32LE(at) !== END || tail.readUInt16LE(at + 20) !== 0)
    throw failure(
      file,
      'zip-damaged',
      'does not end as a zip archive of torch does: it is cut off or has something behind it',
    );
  const disks = [tail.readUInt16LE(at + 4), tail.readUInt16LE(at + 6)];
  const counts = [tail.readUInt16LE(at + 8), tail.readUInt16LE(at + 10)];
  const short: Place = {
    count: counts[1]!,
    length: tail.readUInt32LE(at + 12),
    offset: tail.readUInt32LE(at + 16),
  };
  const long = findLongRecord(file, tail);
  if (disks.some((disk) => disk !== 0) || counts[0] !== counts[1]) throw split(file);
  if (
    long &&
    !(
      matches(short.count, long.count, ALL_16) &&
      matches(short.length, long.length, ALL_32) &&
      matches(short.offset, long.offset, ALL_32)
    )
  )
    throw failure(file, 'zip-damaged', 'has two ends of its zip directory that contradict each other');
  const found = long ?? short;
  const end = file.size - END_BYTES - (long ? LOCATOR_BYTES + END64_BYTES : 0);
  if (found.offset + found.length !== end)
    throw failure(
      file,
      'zip-damaged',
      `has a zip directory of ${found.length} bytes at ${found.offset}, which does not end at ${end}`,
    );
  if (found.length > MAX_DIRECTORY_BYTES)
    throw failure(
      file,
      'zip-limit',
      `has a zip directory of ${found.length} bytes, beyond ${MAX_DIRECTORY_BYTES}`,
    );
  return found;
}

/** A short field is the long one, or says by all its bits that it does not suffice. */
function matches(short: number, long: number, all: number): boolean {
  return short === all || short === long;
}

/** The record of zip64, if there is one. */
function findLongRecord(file: RangeFile, tail: Buffer): Place | undefined {
  const locator = tail.length - END_BYTES - LOCATOR_BYTES;
  if (locator < 0 || tail.readUInt32LE(locator) !== LOCATOR) return undefined;
  const at = locator - END64_BYTES;
  const offset = number64(file, tail, locator + 8);
  if (at < 0 || tail.readUInt32LE(at) !== END64 || offset !== file.size - (tail.length - at))
    throw failure(file, 'zip-damaged', 'has no zip64 record where it should be');
  const disks = [tail.readUInt32LE(locator + 4), tail.readUInt32LE(at + 16), tail.readUInt32LE(at + 20)];
  const count = number64(file, tail, at + 32);
  // Some writers count disks from zero.
  if (tail.readUInt32LE(locator + 16) > 1 || disks.some((disk) => disk !== 0)) throw split(file);
  if (number64(file, tail, at + 24) !== count) throw split(file);
  return { count, length: number64(file, tail, at + 40), offset: number64(file, tail, at + 48) };
}

function parseEntries(file: RangeFile, bytes: Buffer, count: number): Map<string, ZipEntry> {
  const entries = new Map<string, ZipEntry>();
  let at = 0;
  for (; at < bytes.length;) {
    if (at + ENTRY_BYTES > bytes.length || bytes.readUInt32LE(at) !== ENTRY)
      throw failure(file, 'zip-damaged', 'has a broken entry in its zip directory');
    const nameEnd = at + ENTRY_BYTES + bytes.readUInt16LE(at + 28);
    const extraEnd = nameEnd + bytes.readUInt16LE(at + 30);
    const next = extraEnd + bytes.readUInt16LE(at + 32);
    if (next > bytes.length) throw failure(file, 'zip-damaged', 'has an entry beyond its zip directory');
    const entry = parseEntry(file, bytes.subarray(at, next), {
      nameEnd: nameEnd - at,
      extraEnd: extraEnd - at,
    });
    if (entries.has(entry.name))
      throw failure(file, 'zip-duplicate', `has two entries ${quoted(entry.name)}`);
    entries.set(entry.name, entry);
    at = next;
  }
  if (entries.size !== count)
    throw failure(file, 'zip-damaged', `announces ${count} entries and has ${entries.size}`);
  return entries;
}

function parseEntry(
  file: RangeFile,
  bytes: Buffer,
  { nameEnd, extraEnd }: { nameEnd: number; extraEnd: number },
): ZipEntry {
  const name = bytes.toString('utf8', ENTRY_BYTES, nameEnd);
  const long = longFields(file, bytes.subarray(nameEnd, extraEnd));
  // The fields that do not fit follow each other in this order.
  const field = (offset: number): number => {
    const short = bytes.readUInt32LE(offset);
    return short === ALL_32 ? long(name) : short;
  };
  const size = field(24);
  const stored = field(20);
  const headerOffset = field(42);
  const disk = bytes.readUInt16LE(34);
  if (disk !== 0 && disk !== ALL_16) throw split(file);
  return { name, flags: bytes.readUInt16LE(8), method: bytes.readUInt16LE(10), size, stored, headerOffset };
}

/** The next number of an entry's zip64 field at each call. */
function longFields(file: RangeFile, extra: Buffer): (name: string) => number {
  let field: Buffer = Buffer.alloc(0);
  for (let at = 0; at + 4 <= extra.length;) {
    const end = at + 4 + extra.readUInt16LE(at + 2);
    if (extra.readUInt16LE(at) === ZIP64_FIELD) field = extra.subarray(at + 4, end);
    at = end;
  }
  let at = 0;
  return (name) => {
    if (at + 8 > field.length) throw failure(file, 'zip-damaged', `lacks the sizes of entry ${quoted(name)}`);
    at += 8;
    return number64(file, field, at - 8);
  };
}

function number64(file: RangeFile, bytes: Buffer, at: number): number {
  const value = Number(bytes.readBigUInt64LE(at));
  if (Number.isSafeInteger(value)) return value;
  throw failure(file, 'zip-damaged', `has ${value} as a size or offset`);
}

function split(file: RangeFile): WeightsError {
  return failure(file, 'zip-split', 'is one part of a zip archive of several');
}

function failure({ path }: RangeFile, code: WeightsErrorCode, what: string): WeightsError {
  return new WeightsError(path, { code, what, remedy: DAMAGED_REMEDY });
}
