import type { RepoFile } from '../../runtime/core/spec.js';
import { graphField, type PortNames, portNamesInTail } from '../../runtime/onnx/ports.js';
import { ProtobufError } from '../../runtime/onnx/protobuf.js';
import type { ModelSource, RepoRef } from '../../runtime/store/source.js';
import { withRetries } from '../../runtime/store/retry.js';

/** What stands before the graph in a model: its format, and who wrote it. */
const HEAD_BYTES = 4096;
/** Inputs, outputs and shapes of a large network come to less. */
const TAIL_BYTES = 2 ** 20;

type Source = Pick<ModelSource, 'open'>;

/**
 * What a large graph takes and gives, from its first and last bytes: weights are not moved. Undefined where these don't
 * tell, or where the source can't start in the middle.
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
    // No graph: the download's check says so, and why.
    if (error instanceof ProtobufError) return undefined;
    throw error;
  }
}

interface Part {
  file: RepoFile;
  start: number;
  end: number;
}

/** Undefined where the source would send all that comes before, or ends early. */
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
