import { DAMAGED_REMEDY, WeightsError } from './errors.js';
import { type RangeFile, refuseLfsPointer } from './read-ranges.js';
import { parseSafetensorsHeader } from './safetensors-header.js';
import type { StoredTensor } from './types.js';

/** As in the reference implementation. */
export const MAX_HEADER_BYTES = 100_000_000;

/** Enough for the header of most models, so that one read does. */
const FIRST_BYTES = 32 * 1024;

/**
 * The tensors of a safetensors file, from its header.
 * @throws WeightsError
 */
export async function readSafetensorsIndex(file: RangeFile): Promise<[string, StoredTensor][]> {
  const head = await file.read(0, Math.min(file.size, FIRST_BYTES));
  refuseLfsPointer(file.path, head);
  const length = headerLength(file, head);
  const rest = Math.max(0, 8 + length - head.length);
  const tail = rest > 0 ? await file.read(head.length, rest) : Buffer.alloc(0);
  return parseSafetensorsHeader(file, Buffer.concat([head.subarray(8, 8 + length), tail]));
}

function headerLength({ path, size }: RangeFile, head: Buffer): number {
  const fail = (what: string) =>
    new WeightsError(path, { code: 'header-length', what, remedy: DAMAGED_REMEDY });
  if (size < 8) throw fail(`has ${size} bytes, too few for safetensors`);
  const length = head.readBigUInt64LE(0);
  if (length > MAX_HEADER_BYTES) throw fail(`has a header of ${length} bytes, beyond ${MAX_HEADER_BYTES}`);
  if (length > size - 8) throw fail(`has a header of ${length} bytes, and only ${size} in all`);
  return Number(length);
}
