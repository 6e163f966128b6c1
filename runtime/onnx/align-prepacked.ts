import { closeSync, fstatSync, openSync, readFileSync, readSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { bytesReader, type ByteReader, contentText, type Field, fieldsOf, writeField } from './protobuf.js';

/** What the widest vector loads of the matrix kernels demand; ONNX Runtime writes smaller matrices anywhere. */
const ALIGNMENT = 64;
const CHUNK = 2 ** 22;

/** The messages between a model and the external data of its tensors: field number to what is inside. */
interface Message {
  [field: number]: Message;
}
const ENTRY: Message = {};
const GRAPH: Message = { 5: { 13: ENTRY } };
GRAPH[1] = { 5: { 6: GRAPH, 11: GRAPH } };
const MODEL: Message = { 7: GRAPH };

/**
 * Moves matrices in the layout of this machine's kernels (`prepacked_*` entries of an optimised graph) to addresses
 * that the kernels can load from once the file is mapped: an aligned copy goes to the end of the file. Without it
 * processors with AVX-512 end the process with a segmentation fault.
 * @param dir folder of the graph `model.onnx` and its weights `model.bin`
 */
export function alignPrepacked(dir: string): void {
  const [graph, weights] = [join(dir, 'model.onnx'), join(dir, 'model.bin')];
  const before = readFileSync(graph);
  const file = openSync(weights, 'a+');
  try {
    const after = rewrite(bytesReader(before), MODEL, (place) => aligned(file, place));
    if (!after.equals(before)) writeFileSync(graph, after);
  } finally {
    closeSync(file);
  }
}

interface Place {
  offset: number;
  length: number;
}

/** Copies what is misplaced to an aligned end of the file. @returns the offset to use */
function aligned(file: number, { offset, length }: Place): number {
  if (offset % ALIGNMENT === 0) return offset;
  const end = fstatSync(file).size;
  const target = Math.ceil(end / ALIGNMENT) * ALIGNMENT;
  writeSync(file, Buffer.alloc(target - end));
  const buffer = Buffer.alloc(Math.min(CHUNK, length));
  for (let done = 0; done < length;) {
    const count = readSync(file, buffer, 0, Math.min(buffer.length, length - done), offset + done);
    if (count === 0) throw new Error('the optimised weights end early');
    writeSync(file, buffer, 0, count);
    done += count;
  }
  return target;
}

/** The bytes of a message with the places in its prepacked entries replaced. */
function rewrite(reader: ByteReader, type: Message, move: (place: Place) => number, span?: Field): Buffer {
  if (type === ENTRY) return rewriteEntry(reader, span!, move);
  const parts = Array.from(fieldsOf(reader, span?.start, span?.end), (field) => {
    const inner = field.wire === 2 ? type[field.number] : undefined;
    return inner
      ? writeField(field.number, rewrite(reader, inner, move, field))
      : reader.read(field.from, field.end - field.from);
  });
  return Buffer.concat(parts);
}

/** `prepacked_0` = `kernel+hash|offset;length;checksum|offset;length;checksum…`; other entries stay. */
function rewriteEntry(reader: ByteReader, { start, end }: Field, move: (place: Place) => number): Buffer {
  const [key, value] = Array.from(fieldsOf(reader, start, end), (field) => contentText(reader, field));
  if (!key?.startsWith('prepacked_') || value === undefined)
    return Buffer.from(reader.read(start, end - start));
  const [kernel, ...blobs] = value.split('|');
  const moved = blobs.map((blob) => {
    const [offset, length, ...rest] = blob.split(';');
    return [move({ offset: Number(offset), length: Number(length) }), length, ...rest].join(';');
  });
  return Buffer.concat([writeField(1, key), writeField(2, [kernel, ...moved].join('|'))]);
}
