import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** Random access to the bytes of a message. Reads past the end give fewer bytes. */
export interface ByteReader {
  size: number;
  read(offset: number, length: number): Uint8Array;
  /** As `read`, without a copy: what it gives holds until the next call. */
  peek(offset: number, length: number): Uint8Array;
}

export function bytesReader(bytes: Uint8Array): ByteReader {
  const read = (offset: number, length: number) => bytes.subarray(offset, offset + length);
  return { size: bytes.length, read, peek: read };
}

/** Calls `use` with a reader over the file at `path`; holds 64 KiB of it at a time. Blocks while it reads. */
export function withFileReader<T>(path: string, use: (reader: ByteReader) => T): T {
  const fd = openSync(path, 'r');
  const window = Buffer.alloc(64 * 1024);
  let start = 0;
  let filled = 0;
  const peek = (offset: number, length: number) => {
    if (length > window.length) return readWhole(fd, offset, length);
    if (offset < start || offset + length > start + filled) {
      start = offset;
      filled = readSync(fd, window, 0, window.length, offset);
    }
    return window.subarray(offset - start, Math.min(offset - start + length, filled));
  };
  const read = (offset: number, length: number) =>
    length > window.length ? readWhole(fd, offset, length) : Buffer.from(peek(offset, length));
  try {
    return use({ size: fstatSync(fd).size, read, peek });
  } finally {
    closeSync(fd);
  }
}

function readWhole(fd: number, offset: number, length: number): Uint8Array {
  const bytes = Buffer.alloc(length);
  return bytes.subarray(0, readSync(fd, bytes, 0, length, offset));
}

export class ProtobufError extends Error {
  override name = 'ProtobufError';
}

/** One field of a message. */
export interface Field {
  number: number;
  /** 0 varint, 1 eight bytes, 2 length-delimited, 5 four bytes. */
  wire: number;
  /** Where the tag begins. */
  from: number;
  /** Where the content begins and ends. */
  start: number;
  end: number;
}

/**
 * The fields of the message between two offsets, without a look into their contents.
 * @throws ProtobufError when that is no message
 */
export function* fieldsOf(reader: ByteReader, start = 0, end = reader.size): Generator<Field> {
  let at = start;
  while (at < end) {
    const tag = varint(reader, at);
    const number = Math.floor(tag.value / 8);
    const wire = tag.value % 8;
    if (number === 0) throw broken();
    const field = { number, wire, from: at, ...contentOf(reader, wire, tag.next) };
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
export function varint(reader: ByteReader, at: number): { value: number; next: number } {
  const bytes = reader.peek(at, 10);
  let value = 0;
  for (let i = 0; i < bytes.length; i++) {
    value += (bytes[i]! & 0x7f) * 2 ** (7 * i);
    if (bytes[i]! < 0x80) return { value, next: at + i + 1 };
  }
  throw broken();
}

/** Integers that stand behind each other in one field. */
export function packedIntegers(reader: ByteReader, { start, end }: Field): number[] {
  const values: number[] = [];
  for (let at = start; at < end;) {
    const { value, next } = varint(reader, at);
    values.push(value);
    at = next;
  }
  return values;
}

export function contentBytes(reader: ByteReader, { start, end }: Field): Uint8Array {
  return reader.read(start, end - start);
}

const UTF8 = new TextDecoder();

export function contentText(reader: ByteReader, field: Field): string {
  return UTF8.decode(contentBytes(reader, field));
}

/** A length-delimited field. */
export function writeField(number: number, ...parts: (string | Uint8Array)[]): Buffer {
  const content = Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
  return Buffer.concat([writeVarint(number * 8 + 2), writeVarint(content.length), content]);
}

/** A field that holds a non-negative integer. */
export function writeNumber(number: number, value: number): Buffer {
  return Buffer.concat([writeVarint(number * 8), writeVarint(value)]);
}

/** A field that holds an integer of either sign, as int64. */
export function writeInteger(number: number, value: number): Buffer {
  if (value >= 0) return writeNumber(number, value);
  const bytes = Array.from({ length: 10 }, (_, i) =>
    Number((BigInt.asUintN(64, BigInt(value)) >> BigInt(7 * i)) & 0x7fn),
  );
  return Buffer.from([...writeVarint(number * 8), ...bytes.map((byte, i) => (i < 9 ? byte | 0x80 : byte))]);
}

function writeVarint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 0x80);
  return Buffer.from([...bytes, rest]);
}

function broken(): ProtobufError {
  return new ProtobufError('not a protobuf message, or a broken one');
}
