import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { decodeBlocks, floatsOfBlocks, packIntegers } from '../../runtime/gguf/index.js';
import type { Part } from '../../runtime/models/writer/packed-layout.js';
import { type GgmlBlocks, numbersIn, readPart } from '../../runtime/weights/index.js';
import { undoChange } from './undo-change.js';

/** Numbers that are written at a time. */
const CHUNK = 2 ** 22;

export type GgmlPart = Part & { blocks: GgmlBlocks };

interface Reading {
  /** Folder of the checkpoint's files. */
  from: string;
  signal: AbortSignal | undefined;
}

/** Writes a tensor in blocks of ggml: as products read it, or as floats where there is no packing. Nothing is rounded. */
export async function writeGgml(
  handle: FileHandle,
  part: GgmlPart,
  { from, signal }: Reading,
): Promise<void> {
  const { tensor } = part;
  const columns = tensor.shape.at(-1)!;
  const rows = numbersIn([tensor]) / columns;
  const rowBytes = tensor.length / rows;
  // Rows that change places are needed together.
  const step = tensor.change ? rows : Math.max(1, Math.floor(CHUNK / columns));
  for (let row = 0; row < rows; row += step) {
    signal?.throwIfAborted();
    const count = Math.min(step, rows - row);
    const file = path.join(from, ...tensor.file.split('/'));
    const stored = await readPart(file, tensor.offset + row * rowBytes, count * rowBytes);
    if (stored.length < count * rowBytes) throw new Error(`${file} has become shorter`);
    await writeRows(handle, part, { bytes: undoChange(stored, tensor), before: row * columns });
  }
}

interface Rows {
  bytes: Uint8Array;
  /** Numbers of the tensor before these. */
  before: number;
}

async function writeRows(
  handle: FileHandle,
  { packing, blocks, offset, scalesOffset, addedOffset }: GgmlPart,
  { bytes, before }: Rows,
): Promise<void> {
  const write = async (data: Uint8Array | Float32Array, at: number) => {
    const raw = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    await handle.write(raw, 0, raw.length, at);
  };
  if (!packing) return write(floatsOfBlocks(blocks.type, bytes), offset + 4 * before);
  const { integers, scales, offsets } = decodeBlocks(blocks.type, bytes);
  const group = 4 * (before / packing.block);
  await write(packIntegers(integers, packing.bits), offset + (before * packing.bits) / 8);
  await write(scales, scalesOffset! + group);
  if (offsets && addedOffset !== undefined) await write(offsets, addedOffset + group);
}
