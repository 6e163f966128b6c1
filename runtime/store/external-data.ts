import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { StoreError } from './errors.js';
import { isSafePath } from './paths.js';

/**
 * The files that an ONNX graph keeps its weights in, read from the graph itself: a walk over the protobuf message
 * that skips all tensors' bytes. Field numbers are those of onnx.proto.
 */

/** Random access to the bytes of a graph. Reads past the end give fewer bytes. */
export interface ByteReader {
  size: number;
  read(offset: number, length: number): Uint8Array;
}

export function bytesReader(bytes: Uint8Array): ByteReader {
  return { size: bytes.length, read: (offset, length) => bytes.subarray(offset, offset + length) };
}

/** Calls `use` with a reader over the file at `path`; holds 64 KiB of it at a time. Blocks while it reads. */
export function withFileReader<T>(path: string, use: (reader: ByteReader) => T): T {
  const fd = openSync(path, 'r');
  const window = Buffer.alloc(64 * 1024);
  let start = 0;
  let filled = 0;
  const read = (offset: number, length: number) => {
    if (offset < start || offset + length > start + filled) {
      start = offset;
      filled = readSync(fd, window, 0, window.length, offset);
    }
    return Buffer.from(window.subarray(offset - start, Math.min(offset - start + length, filled)));
  };
  try {
    return use({ size: fstatSync(fd).size, read });
  } finally {
    closeSync(fd);
  }
}

type Fields = Record<number, Message>;

/** A message type, as far as it leads to tensors: field number to the type of that field. */
interface Message {
  fields: Fields;
  /** True for TensorProto.external_data: a key and a value. */
  entry?: true;
}

const ENTRY: Message = { fields: {}, entry: true };
const TENSOR: Message = { fields: { 13: ENTRY } };
const SPARSE_TENSOR: Message = { fields: { 1: TENSOR, 2: TENSOR } };
const GRAPH: Message = { fields: {} };
const ATTRIBUTE: Message = {
  fields: { 5: TENSOR, 6: GRAPH, 10: TENSOR, 11: GRAPH, 22: SPARSE_TENSOR, 23: SPARSE_TENSOR },
};
const NODE: Message = { fields: { 5: ATTRIBUTE } };
Object.assign(GRAPH.fields, { 1: NODE, 5: TENSOR, 15: SPARSE_TENSOR } satisfies Fields);
const FUNCTION: Message = { fields: { 7: NODE } };
const MODEL: Message = { fields: { 7: GRAPH, 25: FUNCTION } };

const MAX_DEPTH = 64;
const MAX_NAME_BYTES = 4096;

/**
 * Names of the external files of a graph, relative to the graph's own folder, sorted, each once.
 * @throws StoreError when the bytes are not an ONNX graph, or a name leads out of the folder
 */
export function externalLocations(reader: ByteReader): string[] {
  const found = new Set<string>();
  walk({ reader, found }, MODEL, { start: 0, end: reader.size, depth: 0 });
  return [...found].sort();
}

interface Walk {
  reader: ByteReader;
  found: Set<string>;
}

interface Span {
  start: number;
  end: number;
  depth: number;
}

function walk(state: Walk, type: Message, { start, end, depth }: Span): void {
  if (depth > MAX_DEPTH) throw broken();
  for (const field of fieldsOf(state.reader, start, end)) {
    const inner = type.fields[field.number];
    if (!inner || field.wire !== 2) continue;
    if (inner.entry) addLocation(state, field);
    else walk(state, inner, { start: field.start, end: field.end, depth: depth + 1 });
  }
}

function addLocation({ reader, found }: Walk, entry: Field): void {
  const pair: Record<number, string> = {};
  for (const { number, wire, start, end } of fieldsOf(reader, entry.start, entry.end)) {
    if (wire !== 2 || number > 2) continue;
    if (end - start > MAX_NAME_BYTES) throw broken();
    pair[number] = new TextDecoder().decode(reader.read(start, end - start));
  }
  if (pair[1] !== 'location') return;
  const location = (pair[2] ?? '').replace(/^(?:\.\/)+/, '');
  if (!isSafePath(location)) {
    throw new StoreError(
      'invalid',
      `the graph refers to weights outside of its folder: ${JSON.stringify(location)}`,
    );
  }
  found.add(location);
}

interface Field {
  number: number;
  wire: number;
  /** Where the content of a length-delimited field begins and ends. */
  start: number;
  end: number;
}

function* fieldsOf(reader: ByteReader, start: number, end: number): Generator<Field> {
  let at = start;
  while (at < end) {
    const tag = varint(reader, at);
    const number = Math.floor(tag.value / 8);
    const wire = tag.value % 8;
    if (number === 0) throw broken();
    const field = { number, wire, ...contentOf(reader, wire, tag.next) };
    if (field.end > end) throw broken();
    yield field;
    at = field.end;
  }
}

function contentOf(reader: ByteReader, wire: number, at: number): { start: number; end: number } {
  if (wire === 0) return { start: at, end: varint(reader, at).next };
  if (wire === 1) return { start: at, end: at + 8 };
  if (wire === 5) return { start: at, end: at + 4 };
  if (wire !== 2) throw broken();
  const length = varint(reader, at);
  return { start: length.next, end: length.next + length.value };
}

/** Ten bytes at most. Values above 2^53 lose digits, which only matters for lengths that no file has. */
function varint(reader: ByteReader, at: number): { value: number; next: number } {
  const bytes = reader.read(at, 10);
  let value = 0;
  for (let i = 0; i < bytes.length; i++) {
    value += (bytes[i]! & 0x7f) * 2 ** (7 * i);
    if (bytes[i]! < 0x80) return { value, next: at + i + 1 };
  }
  throw broken();
}

function broken(): StoreError {
  return new StoreError('invalid', 'the file is not an ONNX graph, or a broken one');
}
