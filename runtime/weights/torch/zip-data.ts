import { CONVERT_REMEDY, DAMAGED_REMEDY, quoted, WeightsError } from '../errors.js';
import { inParallel } from '../in-parallel.js';
import type { RangeFile } from '../read-ranges.js';
import type { ZipDirectory, ZipEntry } from './zip-directory.js';

/** Where the data of an entry lies in the archive's file. */
export interface ZipData {
  offset: number;
  length: number;
}

const HEADER_BYTES = 30;
const HEADER = 0x04034b50;
/** Bits of flags: encrypted, strongly encrypted, directory encrypted. */
const ENCRYPTED = 0x1 | 0x40 | 0x2000;

/** Headers with less than this between them are read together: a request costs more than these bytes. */
const GAP_BYTES = 4096;
const MAX_RUN_BYTES = 256 * 1024;
const PARALLEL_READS = 8;

/**
 * Where the data of entries lies, in their order. Reads their local headers, whose length alone the directory does not say.
 * @throws WeightsError for entries that are packed, encrypted or overlap
 */
export async function locateData(
  file: RangeFile,
  directory: ZipDirectory,
  entries: readonly ZipEntry[],
): Promise<ZipData[]> {
  for (const entry of entries) checkStored(file, entry);
  const runs = groupHeaders(file, directory, entries);
  const places = new Map<ZipEntry, ZipData>();
  await inParallel(PARALLEL_READS, undefined, runs, async ({ start, end, entries }) => {
    const bytes = await file.read(start, end - start);
    for (const entry of entries)
      places.set(entry, dataOf(file, entry, bytes.subarray(entry.headerOffset - start)));
  });
  checkLayout(file, directory, places);
  return entries.map((entry) => places.get(entry)!);
}

function checkStored({ path }: RangeFile, { name, flags, method, stored, size }: ZipEntry): void {
  if (flags & ENCRYPTED)
    throw new WeightsError(path, {
      code: 'zip-encrypted',
      what: `has ${quoted(name)} encrypted`,
      remedy: CONVERT_REMEDY,
    });
  if (method !== 0)
    throw new WeightsError(path, {
      code: 'zip-compressed',
      what: `has ${quoted(name)} compressed (method ${method}), so that it can't be used in place`,
      remedy: CONVERT_REMEDY,
    });
  if (stored !== size) throw damaged(path, `has two sizes of ${quoted(name)}: ${stored} and ${size} bytes`);
}

/** Headers that are read at once. */
interface Run {
  start: number;
  end: number;
  entries: ZipEntry[];
}

function groupHeaders(file: RangeFile, { offset }: ZipDirectory, entries: readonly ZipEntry[]): Run[] {
  const runs: Run[] = [];
  for (const entry of [...new Set(entries)].sort((a, b) => a.headerOffset - b.headerOffset)) {
    const start = entry.headerOffset;
    const end = start + HEADER_BYTES + Buffer.byteLength(entry.name);
    if (end > offset)
      throw damaged(file.path, `has ${quoted(entry.name)} at ${start}, behind the end of its data`);
    const last = runs.at(-1);
    if (last && start - last.end < GAP_BYTES && end - last.start <= MAX_RUN_BYTES) {
      last.end = Math.max(last.end, end);
      last.entries.push(entry);
    } else runs.push({ start, end, entries: [entry] });
  }
  return runs;
}

/** @param header from the local header on */
function dataOf({ path }: RangeFile, entry: ZipEntry, header: Buffer): ZipData {
  const nameBytes = header.readUInt16LE(26);
  const name = header.toString('utf8', HEADER_BYTES, HEADER_BYTES + nameBytes);
  const same =
    header.readUInt32LE(0) === HEADER &&
    header.readUInt16LE(8) === entry.method &&
    (header.readUInt16LE(6) & ENCRYPTED) === 0;
  if (!same || name !== entry.name)
    throw damaged(path, `has another header at ${quoted(entry.name)} than its directory`);
  const offset = entry.headerOffset + HEADER_BYTES + nameBytes + header.readUInt16LE(28);
  return { offset, length: entry.size };
}

function checkLayout(
  { path }: RangeFile,
  { offset: end }: ZipDirectory,
  places: ReadonlyMap<ZipEntry, ZipData>,
): void {
  let covered = 0;
  for (const [entry, { offset, length }] of [...places].sort(([a], [b]) => a.headerOffset - b.headerOffset)) {
    if (entry.headerOffset < covered)
      throw damaged(path, `has ${quoted(entry.name)} inside of another entry`);
    covered = offset + length;
    if (covered > end)
      throw damaged(path, `has ${quoted(entry.name)} up to ${covered}, behind the end of its data`);
  }
}

function damaged(path: string, what: string): WeightsError {
  return new WeightsError(path, { code: 'zip-damaged', what, remedy: DAMAGED_REMEDY });
}
