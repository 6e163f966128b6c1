import type { RepoFile } from '../../runtime/core/spec.js';
import { graphField, type PortNames, portNamesInTail } from '../../runtime/onnx/ports.js';
import { ProtobufError } from '../../runtime/onnx/protobuf.js';
import { StoreError } from '../../runtime/store/errors.js';
import type { ModelSource, RepoRef } from '../../runtime/store/source.js';

/** Enough for the fields before the graph: format version and producer. */
const HEAD_BYTES = 4096;
/** Enough for inputs, outputs and shapes of a large network. */
const TAIL_BYTES = 2 ** 20;

type Source = Pick<ModelSource, 'read'>;

/**
 * Reads inputs and outputs of a large graph from its first and last bytes, without the weights. Undefined if these don't
 * have them, or if the source does not support ranges.
 * @throws StoreError
 */
export async function readPortNames(
  source: Source,
  ref: RepoRef,
  file: RepoFile,
): Promise<PortNames | undefined> {
  const part = (start: number, end: number) => source.read(ref, file, { offset: start, length: end - start });
  try {
    const head = await part(0, Math.min(file.size, HEAD_BYTES));
    const read = (offset: number, length: number) => head.subarray(offset, offset + length);
    const { start, end } = graphField({ size: file.size, read, peek: read });
    // A length beyond the file: not a graph.
    if (end > file.size) return undefined;
    return portNamesInTail(await part(Math.max(start, end - TAIL_BYTES), end));
  } catch (error) {
    // Not a graph, which the check after the download reports; or a hub that sends no parts of files.
    if (error instanceof ProtobufError) return undefined;
    if (error instanceof StoreError && error.kind === 'invalid') return undefined;
    throw error;
  }
}
