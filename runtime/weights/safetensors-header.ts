import { bitsOf, byteLength, MAX_RANK } from './elements.js';
import { DAMAGED_REMEDY, quoted, WeightsError, type WeightsErrorCode } from './errors.js';
import { JsonCursor, JsonRefusal } from './json-cursor.js';
import { pause } from './read-ranges.js';
import type { StoredTensor, WeightFile } from './types.js';

/** A tensor as its header describes it; `start` and `end` count from the end of the header. */
interface Entry {
  name: string;
  type: string;
  shape: number[];
  start: number;
  end: number;
}

/** Entries between two turns of the event loop. */
const TURN = 4096;

/** Limits memory; the largest models have a fifth of it, in hundreds of shards. */
export const MAX_TENSORS = 1_000_000;

/**
 * The tensors of a safetensors file, by the rules of the reference implementation: names once, no unknown types, lengths
 * that fit type and shape, data without overlaps and gaps up to the end of the file.
 * @param header the JSON text, without the eight bytes of its length
 * @throws WeightsError
 */
export async function parseSafetensorsHeader(
  file: WeightFile,
  header: Buffer,
): Promise<[string, StoredTensor][]> {
  const fail = failIn(file.path);
  if (header[0] !== 0x7b) throw fail('header-json', 'has a header that does not begin with {');
  const entries = await readEntries(fail, header);
  const dataStart = 8 + header.length;
  const dataLength = file.size - dataStart;
  checkLayout(fail, entries, dataLength);
  return entries.map(({ name, type, shape, start, end }) => [
    name,
    { file: file.path, offset: dataStart + start, length: end - start, type, shape },
  ]);
}

type Fail = (code: WeightsErrorCode, what: string) => WeightsError;

function failIn(path: string): Fail {
  return (code, what) => new WeightsError(path, { code, what, remedy: DAMAGED_REMEDY });
}

async function readEntries(fail: Fail, header: Buffer): Promise<Entry[]> {
  const entries: Entry[] = [];
  try {
    const json = new JsonCursor(header);
    for (const name of json.members()) {
      if (name === '__metadata__') readMetadata(json);
      else entries.push(readEntry(fail, json, name));
      if (entries.length > MAX_TENSORS)
        throw fail('too-many-tensors', `has more than ${MAX_TENSORS} tensors`);
      if (entries.length % TURN === 0) await pause();
    }
    json.end();
  } catch (error) {
    throw error instanceof JsonRefusal ? fail(error.problem, `has a header that ${error.message}`) : error;
  }
  return entries;
}

/** Free texts by name, or null. */
function readMetadata(json: JsonCursor): void {
  if (!json.atObject()) return json.null();
  for (const name of json.members()) {
    if (!json.atString())
      throw new JsonRefusal('header-json', `has metadata ${quoted(name)} that are no text`);
    json.skip();
  }
}

function readEntry(fail: Fail, json: JsonCursor, name: string): Entry {
  let type: string | undefined;
  let shape: number[] | undefined;
  let offsets: number[] | undefined;
  const which = `of tensor ${quoted(name)}`;
  for (const key of json.members()) {
    if (key === 'dtype') type = json.string();
    else if (key === 'shape') shape = readIntegers(json, MAX_RANK, `dimension ${which}`);
    else if (key === 'data_offsets') offsets = readIntegers(json, 2, `offset ${which}`);
    else json.skip();
  }
  if (type === undefined || shape === undefined || offsets === undefined || offsets.length < 2)
    throw fail('header-json', `has a header without dtype, shape or data_offsets ${which}`);
  if (bitsOf(type) === undefined)
    throw fail('element-type', `has the element type ${quoted(type)} ${which}, which is none of safetensors`);
  const [start, end] = offsets as [number, number];
  const length = byteLength(type, shape);
  if (length !== end - start) {
    const stored = `${start} to ${end}`;
    throw fail(
      'tensor-size',
      `has ${type} [${shape.join(', ')}] in bytes ${stored} ${which}, which do not fit`,
    );
  }
  return { name, type, shape, start, end };
}

function readIntegers(json: JsonCursor, most: number, what: string): number[] {
  const values: number[] = [];
  for (const index of json.items()) {
    if (index === most) throw new JsonRefusal('header-json', `has more than ${most} values as ${what}`);
    values.push(json.integer(what));
  }
  return values;
}

function checkLayout(fail: Fail, entries: readonly Entry[], dataLength: number): void {
  let covered = 0;
  for (const { name, start, end } of [...entries].sort((a, b) => a.start - b.start || a.end - b.end)) {
    if (start < covered)
      throw fail(
        'tensor-overlap',
        `has tensor ${quoted(name)} at ${start}, where another one lies up to ${covered}`,
      );
    if (start > covered)
      throw fail(
        'tensor-gap',
        `has bytes ${covered} to ${start} before ${quoted(name)} that belong to no tensor`,
      );
    covered = end;
  }
  if (covered === dataLength) return;
  const kind = covered > dataLength ? 'is cut off' : 'is too long';
  throw fail(
    'file-length',
    `${kind}: its header announces ${covered} bytes of data, and it holds ${dataLength}`,
  );
}
