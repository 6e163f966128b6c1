import { type ByteReader, contentText, type Field, fieldsOf, ProtobufError } from './protobuf.js';

/**
 * Finds the files that the weights of an ONNX graph lie in by walking its protobuf message without reading tensors.
 * Field numbers are those of onnx.proto.
 */

type Fields = Record<number, Message>;

/** The fields of a message type that lead to tensors: field number -> type. */
interface Message {
  fields: Fields;
  /** True for TensorProto.external_data, a pair of key and value. */
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
 * Files that a graph names, as it names them, sorted, without duplicates and leading dots: names are not checked.
 * @throws ProtobufError when the bytes are not an ONNX graph
 */
export function namedFiles(reader: ByteReader): string[] {
  const names = valuesOf(reader, 'location').map((name) => name.replace(/^(?:\.\/)+/, ''));
  return [...new Set(names)].sort();
}

/** Bytes of the weights that a graph reads of other files, by the lengths that it names. @throws as `namedFiles` */
export const externalBytes = (reader: ByteReader): number =>
  valuesOf(reader, 'length').reduce((sum, length) => sum + Number(length), 0);

/** Tensors that a graph reads of other files. @throws as `namedFiles` */
export const externalTensors = (reader: ByteReader): number => valuesOf(reader, 'location').length;

/** What the external data of all tensors says under a key. */
function valuesOf(reader: ByteReader, wanted: string): string[] {
  const found: string[] = [];
  const note = (key: string, value: string) => {
    if (key === wanted) found.push(value);
  };
  walk({ reader, note }, MODEL, { start: 0, end: reader.size, depth: 0 });
  return found;
}

interface Walk {
  reader: ByteReader;
  /** Told of a tensor's external data. */
  note(key: string, value: string): void;
}

interface Span {
  start: number;
  end: number;
  depth: number;
}

function walk(state: Walk, type: Message, { start, end, depth }: Span): void {
  if (depth > MAX_DEPTH) throw brokenGraph();
  for (const field of fieldsOf(state.reader, start, end)) {
    const inner = type.fields[field.number];
    if (!inner || field.wire !== 2) continue;
    if (inner.entry) notePair(state, field);
    else walk(state, inner, { start: field.start, end: field.end, depth: depth + 1 });
  }
}

function notePair({ reader, note }: Walk, entry: Field): void {
  const pair: Record<number, string> = {};
  for (const field of fieldsOf(reader, entry.start, entry.end)) {
    if (field.wire !== 2 || field.number > 2) continue;
    if (field.end - field.start > MAX_NAME_BYTES) throw brokenGraph();
    pair[field.number] = contentText(reader, field);
  }
  note(pair[1] ?? '', pair[2] ?? '');
}

function brokenGraph(): ProtobufError {
  return new ProtobufError('graphs within graphs, or names, that no graph has');
}
