import { posix } from 'node:path';
import { DAMAGED_REMEDY, quoted, WeightsError, type WeightsErrorCode } from './errors.js';
import { inFolder } from './files.js';
import { JsonCursor, JsonRefusal } from './json-cursor.js';
import { pause, type RangeFile } from './read-ranges.js';
import { MAX_TENSORS } from './safetensors-header.js';
import type { StoredTensor, WeightFile } from './types.js';

/** Longest index of shards that is read. */
const MAX_INDEX_BYTES = 100_000_000;
const TURN = 4096;

/** Names that lead out of the index's folder, or mean something else on another system. */
const UNSAFE = /^\/|\\|:|(?:^|\/)\.{0,2}(?:\/|$)/;

export interface ShardIndex {
  /** In order of their first tensor. */
  shards: readonly WeightFile[];
  /** Path of the shard of each tensor. */
  fileOf: ReadonlyMap<string, string>;
}

/**
 * Reads `model.safetensors.index.json` or `pytorch_model.bin.index.json`.
 * @param files all files of the repository
 * @throws WeightsError
 */
export async function readShardIndex(file: RangeFile, files: readonly WeightFile[]): Promise<ShardIndex> {
  if (file.size > MAX_INDEX_BYTES)
    throw failure(file, 'index-json', `has ${file.size} bytes, beyond ${MAX_INDEX_BYTES}`);
  const byPath = new Map(files.map((one) => [one.path, one]));
  const folder = posix.dirname(file.path);
  const fileOf = new Map<string, string>();
  const shards = new Map<string, WeightFile>();
  for (const [name, shard] of await readWeightMap(file)) {
    if (UNSAFE.test(shard))
      throw failure(file, 'shard-path', `puts ${quoted(name)} into ${quoted(shard)}, outside of its folder`);
    const path = inFolder(folder === '.' ? '' : folder, shard);
    const found = byPath.get(path);
    if (!found) throw missingShard(file, path);
    fileOf.set(name, path);
    shards.set(path, found);
  }
  return { shards: [...shards.values()], fileOf };
}

function failure({ path }: RangeFile, code: WeightsErrorCode, what: string): WeightsError {
  return new WeightsError(path, { code, what, remedy: DAMAGED_REMEDY });
}

function missingShard({ path }: RangeFile, shard: string): WeightsError {
  return new WeightsError(path, {
    code: 'shard-missing',
    what: `names ${quoted(shard)}, which the repository lacks`,
    remedy: 'the upload is incomplete: take another revision or another repository',
  });
}

async function readWeightMap(file: RangeFile): Promise<Map<string, string>> {
  const bytes = await file.read(0, file.size);
  const map = new Map<string, string>();
  let found = false;
  try {
    const json = new JsonCursor(bytes);
    for (const key of json.members()) {
      if (key !== 'weight_map') {
        json.skip();
        continue;
      }
      found = true;
      for (const name of json.members()) {
        map.set(name, json.string());
        if (map.size > MAX_TENSORS)
          throw failure(file, 'too-many-tensors', `has more than ${MAX_TENSORS} tensors`);
        if (map.size % TURN === 0) await pause();
      }
    }
    json.end();
  } catch (error) {
    if (!(error instanceof JsonRefusal)) throw error;
    throw failure(file, error.problem === 'duplicate-name' ? 'duplicate-name' : 'index-json', error.message);
  }
  if (!found) throw failure(file, 'index-json', 'has no weight_map');
  return map;
}

/**
 * Puts the tensors of all shards together. Tensors that the index does not name are kept, as torch does.
 * @param tensors of each shard, in the order of `shards`
 * @throws WeightsError name-collision, tensor-missing, too-many-tensors
 */
export function mergeShards(
  file: RangeFile,
  { fileOf }: ShardIndex,
  tensors: readonly (readonly [string, StoredTensor][])[],
): Map<string, StoredTensor> {
  const all = new Map<string, StoredTensor>();
  for (const [name, tensor] of tensors.flat()) {
    const other = all.get(name);
    if (other)
      throw failure(
        file,
        'name-collision',
        `has ${quoted(name)} in ${quoted(other.file)} and ${quoted(tensor.file)}`,
      );
    all.set(name, tensor);
    if (all.size > MAX_TENSORS)
      throw failure(file, 'too-many-tensors', `has more than ${MAX_TENSORS} tensors`);
  }
  for (const [name, path] of fileOf) {
    if (all.get(name)?.file !== path)
      throw failure(
        file,
        'tensor-missing',
        `says that ${quoted(path)} holds ${quoted(name)}, which it does not`,
      );
  }
  return all;
}
