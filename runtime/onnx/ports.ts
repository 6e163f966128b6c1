import {
  type ByteReader,
  bytesReader,
  contentText,
  type Field,
  fieldsOf,
  ProtobufError,
} from './protobuf.js';

/** Names of what a graph takes and gives. */
export interface PortNames {
  inputs: string[];
  outputs: string[];
}

const GRAPH = 7;
const INPUT = 11;
const OUTPUT = 12;
/** Of those that writers put behind the inputs: outputs, value_info, quantization_annotation. Each begins with a name. */
const LAST = 14;

/** @throws ProtobufError when the bytes are no graph */
export function portNames(reader: ByteReader): PortNames {
  return namesIn(reader, graphField(reader));
}

/**
 * Where the graph lies in a model, as far as its beginning tells.
 * @throws ProtobufError when the bytes are no model
 */
export function graphField(reader: ByteReader): Pick<Field, 'start' | 'end'> {
  for (const field of fieldsOf(reader)) if (field.number === GRAPH) return field;
  throw new ProtobufError('a model without a graph');
}

/**
 * The ports of a graph by the last bytes of its message alone: they stand behind all weights. Gives undefined where no
 * outputs are found there.
 */
export function portNamesInTail(tail: Uint8Array): PortNames | undefined {
  const reader = bytesReader(tail);
  const first = firstPort(reader);
  const found = first === undefined ? undefined : namesIn(reader, { start: first, end: tail.length });
  return found && found.outputs.length > 0 && found.outputs.every((name) => NAME.test(name))
    ? found
    : undefined;
}

const NAME = /^[\x20-\x7e]+$/;

/**
 * The first offset of a port from which nothing but ports and what follows them stands up to the end. Looked for from
 * the end, so that each offset is read once whatever the bytes are.
 */
function firstPort(reader: ByteReader): number | undefined {
  const leads = new Uint8Array(reader.size + 1);
  leads[reader.size] = 1;
  const bytes = reader.read(0, reader.size);
  let first: number | undefined;
  for (let at = reader.size - 2; at >= 0; at--) {
    const number = bytes[at]! >> 3;
    if ((bytes[at]! & 7) !== 2 || number < INPUT || number > LAST) continue;
    const end = endOf(bytes, at + 1);
    if (end === undefined || leads[end.at] !== 1 || !isNamed(bytes, end.start, end.at)) continue;
    leads[at] = 1;
    if (number <= OUTPUT) first = at;
  }
  return first;
}

/** Weights may read like fields by chance, but hardly like fields that begin with a name. */
function isNamed(bytes: Uint8Array, start: number, end: number): boolean {
  const name = bytes[start] === 0x0a ? endOf(bytes, start + 1) : undefined;
  return (
    name !== undefined &&
    name.at <= end &&
    NAME.test(Buffer.from(bytes.subarray(name.start, name.at)).toString('latin1'))
  );
}

/** Where the content of a field begins and ends whose length stands at an offset; lengths of four bytes at most. */
function endOf(bytes: Uint8Array, at: number): { start: number; at: number } | undefined {
  let length = 0;
  for (let i = 0; i < 4 && at + i < bytes.length; i++) {
    length += (bytes[at + i]! & 0x7f) * 2 ** (7 * i);
    if (bytes[at + i]! >= 0x80) continue;
    const start = at + i + 1;
    return start + length <= bytes.length ? { start, at: start + length } : undefined;
  }
  return undefined;
}

function namesIn(reader: ByteReader, { start, end }: Pick<Field, 'start' | 'end'>): PortNames {
  const found: PortNames = { inputs: [], outputs: [] };
  for (const field of fieldsOf(reader, start, end)) {
    if (field.number === INPUT) found.inputs.push(nameOf(reader, field));
    if (field.number === OUTPUT) found.outputs.push(nameOf(reader, field));
  }
  return found;
}

function nameOf(reader: ByteReader, { start, end }: Field): string {
  for (const field of fieldsOf(reader, start, end)) if (field.number === 1) return contentText(reader, field);
  return '';
}
