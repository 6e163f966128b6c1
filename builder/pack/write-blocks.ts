import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import type { Packing, Part } from '../../runtime/models/writer/packed-layout.js';
import {
  aligned,
  floatsOf,
  type GgmlBlocks,
  type PackedBlocks,
  type QuantizedBlocks,
  readPart,
  repackBlocks,
  repackFloats,
  type RowBlocks,
  type StoredTensor,
} from '../../runtime/weights/index.js';

type BlocksPart<Blocks> = Part & { packing: Packing; blocks: Blocks };

interface Reading {
  /** Folder of the checkpoint's files. */
  from: string;
  signal: AbortSignal | undefined;
}

/** Writes a matrix that the checkpoint has packed. One matrix is in memory at a time. */
export async function writeBlocks(
  handle: FileHandle,
  { blocks, ...part }: BlocksPart<Exclude<PackedBlocks, GgmlBlocks>>,
  reading: Reading,
): Promise<void> {
  if ('zeros' in blocks) return writeIntegers(handle, { ...part, blocks }, reading);
  const [stored, storedScales] = [await bytesOf(part.tensor, reading), await bytesOf(blocks.scales, reading)];
  const { data, rest, scales } =
    blocks.layout === 'mxfp4'
      ? repackFloats(stored, storedScales)
      : { data: stored, rest: undefined, scales: scalesByBlock(storedScales, blocks, part.packing.block) };
  await handle.write(data, 0, data.length, part.offset);
  if (rest) await handle.write(rest, 0, rest.length, part.restOffset);
  await writeScales(handle, scales, part.scalesOffset);
}

/** The scale of each block, of scales of groups that consist of several. */
function scalesByBlock(
  bytes: Uint8Array,
  { scales: { type }, group }: RowBlocks,
  block: number,
): Float32Array {
  const given = floatsOf(bytes, type);
  const each = group / block;
  return Float32Array.from({ length: given.length * each }, (_, i) => given[Math.floor(i / each)]!);
}

async function writeScales(handle: FileHandle, scales: Float32Array, at: number | undefined): Promise<void> {
  const bytes = new Uint8Array(scales.buffer);
  await handle.write(bytes, 0, bytes.length, at);
}

/** Data, scales and zero points, and the order of the matrix's columns where that is not their own. */
async function writeIntegers(
  handle: FileHandle,
  part: BlocksPart<QuantizedBlocks>,
  reading: Reading,
): Promise<void> {
  const { tensor, packing, blocks, offset, scalesOffset, zerosOffset, orderOffset } = part;
  const { scales, zeros, groupOf, ...layout } = blocks;
  const [rows, columns] = tensor.shape as [number, number];
  const order = groupOf && columnsByGroup(tensor, await wordsOf(groupOf, reading), layout);
  const stored = {
    words: await wordsOf(tensor, reading),
    zeroWords: await wordsOf(zeros, reading),
    scales: floatsOf(await bytesOf(scales, reading), scales.type),
    order,
  };
  const made = repackBlocks(stored, { ...layout, rows, columns, block: packing.block });
  await handle.write(made.data, 0, made.data.length, offset);
  await writeScales(handle, made.scales, scalesOffset);
  await handle.write(made.zeros, 0, made.zeros.length, zerosOffset);
  if (orderOffset === undefined) return;
  const orderBytes = new Uint8Array(BigInt64Array.from(order!, BigInt).buffer);
  await handle.write(orderBytes, 0, orderBytes.length, orderOffset);
}

/**
 * The columns, those of a group side by side; undefined where they are so already.
 * @throws Error where groups are not of one size, or columns are out of order though none should be
 */
function columnsByGroup(
  { file }: StoredTensor,
  groups: Uint32Array,
  { group, reordered }: Pick<QuantizedBlocks, 'group' | 'reordered'>,
): Uint32Array | undefined {
  if (!reordered) {
    if (groups.every((found, column) => found === Math.floor(column / group))) return undefined;
    throw new Error(
      `${file} has columns in the order of their activations (g_idx), though its settings say desc_act false: it can't be repacked`,
    );
  }
  const order = Uint32Array.from(groups.keys()).sort((a, b) => groups[a]! - groups[b]! || a - b);
  if (order.some((column, place) => groups[column] !== Math.floor(place / group)))
    throw new Error(`${file} has groups of other sizes (g_idx) than its settings say: it can't be repacked`);
  return order;
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
