import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import path from 'node:path';
import { blocksOf, matrixSize, type Part } from '../../runtime/models/writer/packed-layout.js';
import type { Recipe } from '../../runtime/models/writer/storage.js';
import { floatsOf, packNarrowRows, packRows, readPart } from '../../runtime/weights/index.js';
import { writeBlocks } from './write-blocks.js';
import { undoChange } from './undo-change.js';
import { writeGgml } from './write-ggml.js';
import { mergedRows, readAddition, turned } from './merge-rows.js';

/** Numbers that are packed at a time, so that a network of any size needs little memory. */
const CHUNK = 2 ** 22;

export interface MakeOptions {
  /** Folder of the checkpoint's files. */
  from: string;
  recipe: Recipe;
  signal?: AbortSignal | undefined;
  onProgress?(doneBytes: number, totalBytes: number): void;
}

/**
 * Writes the file of a recipe, tensor by tensor.
 * @returns SHA-256 of the file in hex
 * @throws errors of the file system; the abort reason
 */
export async function buildPackedFile(
  target: string,
  { from, recipe, signal, onProgress }: MakeOptions,
): Promise<string> {
  const handle = await open(target, 'w');
  try {
    for (const part of recipe.parts) {
      await writePart(handle, part, { from, signal });
      onProgress?.(part.offset, recipe.size);
    }
    await handle.truncate(recipe.size);
    await handle.sync();
  } finally {
    await handle.close();
  }
  return hashOf(target, recipe.size, signal);
}

interface Reading {
  from: string;
  signal: AbortSignal | undefined;
}

async function writePart(handle: FileHandle, part: Part, { from, signal }: Reading): Promise<void> {
  const { tensor, packing } = part;
  if (tensor.blocks?.layout === 'ggml')
    return writeGgml(handle, { ...part, blocks: tensor.blocks }, { from, signal });
  if (tensor.blocks && packing)
    return writeBlocks(handle, { ...part, packing, blocks: tensor.blocks }, { from, signal });
  const file = path.join(from, ...tensor.file.split('/'));
  const addition = await readAddition(from, tensor);
  // Matrices are packed, and added to, by whole rows.
  const rowBytes = packing || addition ? tensor.length / tensor.shape[0]! : 1;
  // A tensor that is turned, or whose rows or frames change places, is needed whole.
  const { change } = tensor;
  const step =
    packing?.transposed || (change && change.kind !== 'add')
      ? tensor.length
      : Math.max(rowBytes, Math.floor((4 * CHUNK) / rowBytes) * rowBytes);
  for (let at = 0; at < tensor.length; at += step) {
    signal?.throwIfAborted();
    const length = Math.min(step, tensor.length - at);
    const stored = await readPart(file, tensor.offset + at, length);
    if (stored.length < length) throw new Error(`${file} has become shorter`);
    const usual = undoChange(stored, tensor);
    const bytes = addition ? mergedRows(usual, tensor.type, addition, at / rowBytes) : usual;
    if (!packing) await handle.write(bytes, 0, bytes.length, part.offset + at);
    else await writePacked(handle, { ...part, packing, row: at / rowBytes, bytes });
  }
}

type PackedPart = Part & {
  packing: NonNullable<Part['packing']>;
  /** Rows of the tensor before these bytes. */
  row: number;
  bytes: Uint8Array;
};

async function writePacked(handle: FileHandle, part: PackedPart): Promise<void> {
  const { tensor, packing, row, bytes, offset, scalesOffset, rowScalesOffset, zerosOffset } = part;
  const { bits, block, transposed } = packing;
  const [rows, columns] = matrixSize(tensor, transposed);
  const floats = floatsOf(bytes, tensor.type);
  const straight = transposed ? turned(floats, columns, rows) : floats;
  const blocks = blocksOf(columns, block);
  const write = async (data: Uint8Array | Uint16Array | Float32Array, at: number) => {
    const raw = new Uint8Array(data.buffer);
    await handle.write(raw, 0, raw.length, at);
  };
  const before = row * blocks;
  const dataOffset = offset + (before * block * bits) / 8;
  if (rowScalesOffset === undefined) {
    const { data, scales } = packRows(straight, { bits, columns, block });
    await write(data, dataOffset);
    await write(scales, scalesOffset! + before * 4);
    return;
  }
  const { data, scales, rowScales, zeros } = packNarrowRows(straight, { bits, columns, block });
  await write(data, dataOffset);
  await write(scales, scalesOffset! + before);
  await write(rowScales, rowScalesOffset + row * 2);
  if (zeros) await write(zeros, zerosOffset! + row * Math.ceil(blocks / 2));
}

async function hashOf(file: string, size: number, signal: AbortSignal | undefined): Promise<string> {
  const hash = createHash('sha256');
  for (let at = 0; at < size; at += CHUNK) {
    signal?.throwIfAborted();
    hash.update(await readPart(file, at, Math.min(CHUNK, size - at)));
  }
  return hash.digest('hex');
}
