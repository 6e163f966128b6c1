import { readGraphBytes, writeGraph } from './graph.js';
import { bytesReader, contentText, type Field, fieldsOf, type ByteReader, writeField } from './protobuf.js';

/** TensorProto.external_data: pairs of a key and a value. */
const EXTERNAL_DATA = 13;

/**
 * The graph with the files of its weights under other names.
 * @param nameOf gives the new name of a file, relative to the folder of the weights
 * @throws ProtobufError when the bytes are no graph
 */
export function withFilesAt(bytes: Uint8Array, nameOf: (file: string) => string): Uint8Array {
  const graph = readGraphBytes(bytes);
  const initializers = graph.initializers.map((tensor) => relocated(tensor, nameOf));
  return writeGraph({ ...graph, initializers });
}

function relocated(tensor: Uint8Array, nameOf: (file: string) => string): Uint8Array {
  const reader = bytesReader(tensor);
  const fields = Array.from(fieldsOf(reader), (field) => {
    const file = field.number === EXTERNAL_DATA ? locationOf(reader, field) : undefined;
    if (file === undefined) return reader.read(field.from, field.end - field.from);
    return writeField(EXTERNAL_DATA, writeField(1, 'location'), writeField(2, nameOf(file)));
  });
  return Buffer.concat(fields);
}

/** Undefined for a pair with another key. */
function locationOf(reader: ByteReader, { start, end }: Field): string | undefined {
  const [key, value] = [...fieldsOf(reader, start, end)].map((field) => contentText(reader, field));
  return key === 'location' ? value : undefined;
}
