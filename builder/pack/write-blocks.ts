import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import type { Packing, Part } from '../../runtime/graphs/storage.js';
import {
  aligned,
  floatsOf,
  type QuantizedBlocks,
  readPart,
  repackBlocks,
  type StoredTensor,
} from '../../runtime/weights/index.js';

type BlocksPart = Part & { packing: Packing; blocks: QuantizedBlocks };

interface Reading {
  /** Folder of the checkpoint's files. */
  from: string;
  signal: AbortSignal | undefined;
}

/** Writes a matrix that the checkpoint has packed: data, scales and zero points. One matrix is in memory at a time. */
export async function writeBlocks(handle: FileHandle, part: BlocksPart, reading: Reading): Promise<void> {
  const { tensor, packing, blocks, offset, scalesOffset, zerosOffset } = part;
  const { scales, zeros, groupOf, ...layout } = blocks;
  const [rows, columns] = tensor.shape as [number, number];
  if (groupOf) await requireOrder(tensor, { ...reading, groupOf, group: layout.group });
  const stored = {
    words: await wordsOf(tensor, reading),
    zeroWords: await wordsOf(zeros, reading),
    scales: floatsOf(await bytesOf(scales, reading), scales.type),
  };
  const made = repackBlocks(stored, { ...layout, rows, columns, block: packing.block });
  const scaleBytes = new Uint8Array(made.scales.buffer);
  await handle.write(made.data, 0, made.data.length, offset);
  await handle.write(scaleBytes, 0, scaleBytes.length, scalesOffset);
  await handle.write(made.zeros, 0, made.zeros.length, zerosOffset);
}

/** @throws Error where columns are grouped in another order than their own */
async function requireOrder(
  { file }: StoredTensor,
  { groupOf, group, ...reading }: Reading & { groupOf: StoredTensor; group: number },
): Promise<void> {
  const groups = await wordsOf(groupOf, reading);
  if (groups.some((found, column) => found !== Math.floor(column / group)))
    throw new Error(
      `${file} has columns in the order of their activations (g_idx), though its config.json says desc_act false: it can't be repacked`,
    );
}

async function bytesOf(
  { file, offset, length }: StoredTensor,
  { from, signal }: Reading,
): Promise<Uint8Array> {
  signal?.throwIfAborted();
  const bytes = await readPart(path.join(from, ...file.split('/')), offset, length);
  if (bytes.length < length) throw new Error(`${file} has become shorter`);
  return bytes;
}

async function wordsOf(tensor: StoredTensor, reading: Reading): Promise<Uint32Array> {
  return new Uint32Array(aligned(await bytesOf(tensor, reading)));
}
