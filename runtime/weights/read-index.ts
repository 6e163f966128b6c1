import pLimit from 'p-limit';
import { type Checkpoint, type CheckpointFormat, type CheckpointName, findCheckpoint } from './files.js';
import { inParallel } from './in-parallel.js';
import { rangeFile, type RangeFile, type RangeOptions } from './read-ranges.js';
import { readSafetensorsIndex } from './safetensors.js';
import { mergeShards, readShardIndex } from './shards.js';
import { readTorchIndex } from './torch/read-torch.js';
import type { RangeSource, StoredTensor, WeightFile, WeightIndex } from './types.js';

/** Shards that are read at a time, and parts of all of them together. */
const [PARALLEL_SHARDS, PARALLEL_READS] = [4, 8];

const READERS: Record<CheckpointFormat, (file: RangeFile) => Promise<[string, StoredTensor][]>> = {
  safetensors: readSafetensorsIndex,
  torch: readTorchIndex,
};

/** `onRead` is called with the bytes of each part that was read: indexes, headers and little of what lies between. */
export type ReadIndexOptions = CheckpointName & RangeOptions;

/**
 * Where each tensor of a repository's checkpoint lies, from headers and indexes alone. Every offset, length, type and
 * shape is checked against the listed size of its file.
 * @throws WeightsError, or what the source throws
 */
export async function readWeightIndex(
  source: RangeSource,
  options: ReadIndexOptions = {},
): Promise<WeightIndex> {
  const limit = pLimit(PARALLEL_READS);
  const limited: RangeSource = {
    files: source.files,
    read: (...part) => limit(() => source.read(...part)),
  };
  return readCheckpoint(limited, findCheckpoint(source.files, options), options);
}

async function readCheckpoint(
  source: RangeSource,
  { format, sharded, file }: Checkpoint,
  options: RangeOptions,
): Promise<WeightIndex> {
  const opened = rangeFile(source, file, options);
  const read = READERS[format];
  if (!sharded) return new Map(await read(opened));
  const index = await readShardIndex(opened, source.files);
  const tensors = await inParallel(PARALLEL_SHARDS, options.signal, index.shards, (shard, signal) =>
    read(rangeFile(source, shard, { ...options, signal })),
  );
  return mergeShards(opened, index, tensors);
}

/**
 * The files of a repository's checkpoint that hold weights: one, or the shards that its index names.
 * @throws WeightsError, or what the source throws
 */
export async function weightFilesOf(
  source: RangeSource,
  options: ReadIndexOptions = {},
): Promise<readonly WeightFile[]> {
  const { sharded, file } = findCheckpoint(source.files, options);
  if (!sharded) return [file];
  return (await readShardIndex(rangeFile(source, file, options), source.files)).shards;
}
