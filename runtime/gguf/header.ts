import { quoted } from '../weights/errors.js';
import { pause, type RangeFile, refuseLfsPointer } from '../weights/read-ranges.js';
import { MAX_TENSORS } from '../weights/safetensors-header.js';
import { formerType, ggmlType } from './blocks.js';
import { byteCursor, type ByteCursor } from './byte-cursor.js';
import { readValue } from './metadata-value.js';
import { type Refuse, refusalsOf } from './refusal.js';
import { placed, type Unplaced } from './layout.js';
import type { GgufHeader, GgufMetadata, GgufValue } from './types.js';

const MAGIC = 'GGUF';
const VERSIONS = [2, 3];

/** Far beyond any model: the most that are known are some hundred. */
const MAX_KEYS = 2 ** 16;
const MAX_KEY_BYTES = 2 ** 16;
/** As in ggml. */
const [MAX_RANK, MAX_NAME_BYTES] = [4, 63];

/** The least that a key with its value takes, and a tensor. */
const [KEY_BYTES, TENSOR_BYTES] = [8 + 4 + 1, 8 + 4 + 8 + 4 + 8];

/** Tensors between two turns of the event loop. */
const TURN = 4096;

/**
 * The header of a GGUF file, by the rules of ggml: read in parts, never more than 32 MB, nothing allocated for a count that
 * the file can't hold.
 * @throws WeightsError, or what the source throws
 */
export async function readGgufHeader(file: RangeFile): Promise<GgufHeader> {
  const refuse = refusalsOf(file.path);
  const cursor = byteCursor(file, refuse);
  const { version, tensors: count, keys } = await readCounts(file, cursor, refuse);
  const metadata = await readMetadata(cursor, refuse, keys);
  const tensors = await readTensors(cursor, refuse, count);
  const alignment = alignmentOf(metadata, refuse);
  const dataOffset = Math.ceil(cursor.at / alignment) * alignment;
  const layout = { alignment, dataOffset, size: file.size };
  return { file: file.path, version, metadata, tensors: placed(tensors, layout, refuse), dataOffset };
}

interface Counts {
  version: number;
  tensors: number;
  keys: number;
}

async function readCounts(file: RangeFile, cursor: ByteCursor, refuse: Refuse): Promise<Counts> {
  if (file.size < 24) throw refuse('gguf-magic', `has ${file.size} bytes, too few for GGUF`);
  await cursor.load(24);
  const head = cursor.take(24);
  refuseLfsPointer(file.path, head);
  if (head.toString('latin1', 0, 4) !== MAGIC) throw refuse('gguf-magic', 'does not begin with GGUF');
  const version = head.readUInt32LE(4);
  if (version >= 2 ** 16 && head.readUInt32BE(4) < 2 ** 16)
    throw refuse('byte-order', 'is written for machines with the largest byte first', TAKE_USUAL);
  if (!VERSIONS.includes(version))
    throw refuse(
      'gguf-version',
      `is of version ${version} of GGUF; known: ${VERSIONS.join(', ')}`,
      TAKE_USUAL,
    );
  const [tensors, keys] = [head.readBigUInt64LE(8), head.readBigUInt64LE(16)];
  if (tensors > MAX_TENSORS) throw refuse('too-many-tensors', `announces ${tensors} tensors`);
  if (keys > MAX_KEYS) throw refuse('too-many-keys', `announces ${keys} keys of metadata`);
  const least = Number(keys) * KEY_BYTES + Number(tensors) * TENSOR_BYTES;
  if (least > cursor.left)
    throw refuse(
      'file-length',
      `announces ${tensors} tensors and ${keys} keys, more than its ${file.size} bytes hold`,
    );
  return { version, tensors: Number(tensors), keys: Number(keys) };
}

const TAKE_USUAL = "take another file, made with today's llama.cpp";

async function readMetadata(cursor: ByteCursor, refuse: Refuse, count: number): Promise<GgufMetadata> {
  const metadata = new Map<string, GgufValue>();
  for (let i = 0; i < count; i++) {
    const key = await readName(cursor, refuse, { most: MAX_KEY_BYTES, what: 'a key' });
    if (metadata.has(key)) throw refuse('duplicate-name', `has the key ${quoted(key)} twice`);
    await cursor.load(4);
    const type = cursor.take(4).readUInt32LE();
    metadata.set(key, await readValue(cursor, refuse, type, quoted(key)));
    if (i % TURN === TURN - 1) await pause();
  }
  return metadata;
}

/** A text whose length is bounded by more than the file. */
async function readName(
  cursor: ByteCursor,
  refuse: Refuse,
  { most, what }: { most: number; what: string },
): Promise<string> {
  await cursor.load(8);
  const length = cursor.take(8).readBigUInt64LE();
  if (length > most) throw refuse('string-length', `has ${what} of ${length} bytes, beyond ${most}`);
  await cursor.load(Number(length));
  return cursor.take(Number(length)).toString('utf8');
}

async function readTensors(cursor: ByteCursor, refuse: Refuse, count: number): Promise<Unplaced[]> {
  const tensors: Unplaced[] = [];
  const names = new Set<string>();
  for (let i = 0; i < count; i++) {
    const tensor = await readTensor(cursor, refuse);
    if (names.has(tensor.name)) throw refuse('duplicate-name', `has the tensor ${quoted(tensor.name)} twice`);
    names.add(tensor.name);
    tensors.push(tensor);
    if (i % TURN === TURN - 1) await pause();
  }
  return tensors;
}

async function readTensor(cursor: ByteCursor, refuse: Refuse): Promise<Unplaced> {
  const name = await readName(cursor, refuse, { most: MAX_NAME_BYTES, what: 'the name of a tensor' });
  await cursor.load(4);
  const rank = cursor.take(4).readUInt32LE();
  if (rank > MAX_RANK)
    throw refuse(
      'tensor-size',
      `has ${rank} dimensions of tensor ${quoted(name)}; ggml has ${MAX_RANK} at most`,
    );
  await cursor.load(8 * rank + 12);
  const sizes = Array.from({ length: rank }, () => cursor.take(8).readBigUInt64LE());
  const number = cursor.take(4).readUInt32LE();
  const offset = cursor.take(8).readBigUInt64LE();
  const type = ggmlType(number);
  if (!type) throw unknownType(refuse, name, number);
  return { name, sizes, type, offset };
}

function unknownType(refuse: Refuse, name: string, number: number) {
  const former = formerType(number);
  if (former !== undefined)
    return refuse(
      'unsupported-type',
      `has ${quoted(name)} as ${former}, which ggml has taken back`,
      TAKE_USUAL,
    );
  return refuse('element-type', `has the type ${number} of tensor ${quoted(name)}, which is none of ggml`);
}

const USUAL_ALIGNMENT = 32;

function alignmentOf(metadata: GgufMetadata, refuse: Refuse): number {
  const value = metadata.get('general.alignment') ?? USUAL_ALIGNMENT;
  if (typeof value === 'number' && value >= 1 && value <= 2 ** 20 && Number.isInteger(Math.log2(value)))
    return value;
  throw refuse('alignment', 'has a general.alignment that is no power of two');
}
