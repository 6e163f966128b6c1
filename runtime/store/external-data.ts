import { namedFiles } from '../onnx/named-files.js';
import { type ByteReader, ProtobufError } from '../onnx/protobuf.js';
import { StoreError } from './errors.js';
import { isSafePath } from './paths.js';

/**
 * Names of the external files of a graph, relative to the graph's folder, sorted, without duplicates.
 * @throws StoreError when the bytes are not an ONNX graph, or a name leads out of the folder
 */
export function externalLocations(reader: ByteReader): string[] {
  const found = namesIn(reader);
  const outside = found.find((location) => !isSafePath(location));
  if (outside === undefined) return found;
  throw new StoreError(
    'invalid',
    `the graph refers to weights outside of its folder: ${JSON.stringify(outside)}`,
  );
}

function namesIn(reader: ByteReader): string[] {
  try {
    return namedFiles(reader);
  } catch (error) {
    if (!(error instanceof ProtobufError)) throw error;
    throw new StoreError('invalid', 'the file is not an ONNX graph, or a broken one');
  }
}
