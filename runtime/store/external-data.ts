import { type ByteReader, contentText, type Field, fieldsOf, ProtobufError } from '../onnx/protobuf.js';
import { StoreError } from './errors.js';
import { isSafePath } from './paths.js';

/**
 * Finds the external weight files of an ONNX graph by walking its protobuf message without reading tensors. Field
 * numbers are those of onnx.proto.
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
 * Names of the external files of a graph, relative to the graph's folder, sorted, without duplicates.
 * @throws StoreError when the bytes are not an ONNX graph, or a name leads out of the folder
 */
export function externalLocations(reader: ByteReader): string[] {
  const found = new Set<string>();
  try {
    walk({ reader, found }, MODEL, { start: 0, end: reader.size, depth: 0 });
  } catch (error) {
    throw error instanceof ProtobufError ? invalidGraph() : error;
  }
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
  if (depth > MAX_DEPTH) throw invalidGraph();
  for (const field of fieldsOf(state.reader, start, end)) {
    const inner = type.fields[field.number];
    if (!inner || field.wire !== 2) continue;
    if (inner.entry) addLocation(state, field);
    else walk(state, inner, { start: field.start, end: field.end, depth: depth + 1 });
  }
}

function addLocation({ reader, found }: Walk, entry: Field): void {
  const pair: Record<number, string> = {};
  for (const field of fieldsOf(reader, entry.start, entry.end)) {
    if (field.wire !== 2 || field.number > 2) continue;
    if (field.end - field.start > MAX_NAME_BYTES) throw invalidGraph();
    pair[field.number] = contentText(reader, field);
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

function invalidGraph(): StoreError {
  return new StoreError('invalid', 'the file is not an ONNX graph, or a broken one');
}
