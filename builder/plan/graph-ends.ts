import type { RepoFile } from '../../runtime/core/spec.js';
import { graphField, type PortNames, portNamesInTail } from '../../runtime/onnx/ports.js';
import { ProtobufError } from '../../runtime/onnx/protobuf.js';
import type { ModelSource, RepoRef } from '../../runtime/store/source.js';
import { withRetries } from '../../runtime/store/retry.js';

/** Enough for the fields before the graph: format version and producer. */
const HEAD_BYTES = 4096;
/** Enough for inputs, outputs and shapes of a large network. */
const TAIL_BYTES = 2 ** 20;

type Source = Pick<ModelSource, 'open'>;

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
  const head = await readPart(source, ref, { file, start: 0, end: Math.min(file.size, HEAD_BYTES) });
  if (!head) return undefined;
  try {
    const read = (offset: number, length: number) => head.subarray(offset, offset + length);
    const { start, end } = graphField({ size: file.size, read });
    const tail = await readPart(source, ref, { file, start: Math.max(start, end - TAIL_BYTES), end });
    return tail && portNamesInTail(tail);
  } catch (error) {
    // Not a graph; the check after the download reports it.
    if (error instanceof ProtobufError) return undefined;
    throw error;
  }
}

interface Part {
  file: RepoFile;
  start: number;
  end: number;
}

/** Undefined if the source does not support ranges, or ends early. */
function readPart(source: Source, ref: RepoRef, part: Part): Promise<Buffer | undefined> {
  return withRetries(() => readOnce(source, ref, part), { attempts: 4, baseMs: 500 });
}

async function readOnce(source: Source, ref: RepoRef, { file, start, end }: Part) {
  const controller = new AbortController();
  const { offset, body } = await source.open(ref, file, start, controller.signal);
  const pieces: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const piece of offset === start ? body : []) {
      pieces.push(piece);
      length += piece.length;
      if (length >= end - start) break;
    }
  } finally {
    controller.abort();
  }
  return length < end - start ? undefined : Buffer.concat(pieces).subarray(0, end - start);
}
