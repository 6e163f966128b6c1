import { pause } from '../weights/read-ranges.js';
import type { ByteCursor } from './byte-cursor.js';
import type { Refuse } from './refusal.js';
import type { GgufScalar, GgufValue } from './types.js';

/** Numbers that headers have for the types of values. */
const [STRING, ARRAY] = [8, 9];

interface ScalarType {
  bytes: number;
  read(bytes: Buffer): GgufScalar;
}

/** A number where it is exact. */
const whole = (value: bigint): number | bigint =>
  Number.isSafeInteger(Number(value)) ? Number(value) : value;

const SCALARS: Readonly<Record<number, ScalarType>> = {
  0: { bytes: 1, read: (bytes) => bytes.readUInt8() },
  1: { bytes: 1, read: (bytes) => bytes.readInt8() },
  2: { bytes: 2, read: (bytes) => bytes.readUInt16LE() },
  3: { bytes: 2, read: (bytes) => bytes.readInt16LE() },
  4: { bytes: 4, read: (bytes) => bytes.readUInt32LE() },
  5: { bytes: 4, read: (bytes) => bytes.readInt32LE() },
  6: { bytes: 4, read: (bytes) => bytes.readFloatLE() },
  7: { bytes: 1, read: (bytes) => bytes.readUInt8() !== 0 },
  10: { bytes: 8, read: (bytes) => whole(bytes.readBigUInt64LE()) },
  11: { bytes: 8, read: (bytes) => whole(bytes.readBigInt64LE()) },
  12: { bytes: 8, read: (bytes) => bytes.readDoubleLE() },
};

/** Of lists that vocabularies have, which are kept as they lie. */
const TYPED: Readonly<Record<number, typeof Int32Array | typeof Float32Array>> = {
  5: Int32Array,
  6: Float32Array,
};

/** Values of a list between two turns of the event loop. */
const TURN = 8192;
const LENGTH_BYTES = 8;

/**
 * The next value, of a type by its number.
 * @param what the value, for refusals
 */
export async function readValue(
  cursor: ByteCursor,
  refuse: Refuse,
  type: number,
  what: string,
): Promise<GgufValue> {
  if (type === STRING) return readString(cursor, refuse, what);
  if (type === ARRAY) return readList(cursor, refuse, what);
  const scalar = SCALARS[type];
  if (!scalar) throw refuse('value-type', `has ${what} of type ${type}, which GGUF does not have`);
  await cursor.load(scalar.bytes);
  return scalar.read(cursor.take(scalar.bytes));
}

/** Text behind its length; what is no UTF-8 becomes replacement characters. */
export async function readString(cursor: ByteCursor, refuse: Refuse, what: string): Promise<string> {
  await cursor.load(LENGTH_BYTES);
  const length = cursor.take(LENGTH_BYTES).readBigUInt64LE();
  if (length > cursor.left)
    throw refuse('string-length', `has ${what} of ${length} bytes, and only ${cursor.left} follow`);
  await cursor.load(Number(length));
  return cursor.take(Number(length)).toString('utf8');
}

/** The next text if all of it is loaded; nothing is taken if not. */
function loadedString(cursor: ByteCursor): string | undefined {
  if (cursor.loaded < LENGTH_BYTES) return undefined;
  const length = cursor.nextLength();
  if (cursor.loaded - LENGTH_BYTES < length) return undefined;
  cursor.take(LENGTH_BYTES);
  return length === 0 ? '' : cursor.take(length).toString('utf8');
}

async function readList(cursor: ByteCursor, refuse: Refuse, what: string): Promise<GgufValue> {
  await cursor.load(4 + LENGTH_BYTES);
  const type = cursor.take(4).readUInt32LE();
  const count = cursor.take(LENGTH_BYTES).readBigUInt64LE();
  if (type === ARRAY)
    throw refuse('nested-array', `has lists inside of ${what}, which llama.cpp does not read either`);
  const bytes = type === STRING ? LENGTH_BYTES : SCALARS[type]?.bytes;
  if (bytes === undefined)
    throw refuse('value-type', `has ${what} of type ${type}, which GGUF does not have`);
  if (count * BigInt(bytes) > cursor.left)
    throw refuse('array-length', `has ${count} values in ${what}, and only ${cursor.left} bytes follow`);
  if (type === STRING) return readStrings(cursor, refuse, Number(count), what);
  return readNumbers(cursor, type, Number(count));
}

async function readStrings(
  cursor: ByteCursor,
  refuse: Refuse,
  count: number,
  what: string,
): Promise<string[]> {
  const values: string[] = [];
  for (let i = 0; i < count; i++) {
    // Not to wait for what is there makes a list of millions ten times as fast.
    values.push(loadedString(cursor) ?? (await readString(cursor, refuse, what)));
    if (i % TURN === TURN - 1) await pause();
  }
  return values;
}

async function readNumbers(
  cursor: ByteCursor,
  type: number,
  count: number,
): Promise<GgufScalar[] | Int32Array | Float32Array> {
  const { bytes, read } = SCALARS[type]!;
  await cursor.load(count * bytes);
  const list = cursor.take(count * bytes);
  const Typed = TYPED[type];
  if (Typed) return new Typed(Uint8Array.from(list).buffer);
  const values: GgufScalar[] = [];
  for (let i = 0; i < count; i++) {
    values.push(read(list.subarray(i * bytes, (i + 1) * bytes)));
    if (i % TURN === TURN - 1) await pause();
  }
  return values;
}
