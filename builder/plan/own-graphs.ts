import { createHash } from 'node:crypto';
import type { Head } from '../../runtime/core/handles/index.js';
import type { Dtype, ModelInfo, RepoFile, WrittenGraph } from '../../runtime/core/spec.js';
import { GraphError } from '../../runtime/graphs/errors.js';
import { packedStorage, type Recipe } from '../../runtime/graphs/storage.js';
import {
  type GraphsRequest,
  hasWriter,
  writeGraphs,
  type WrittenGraphs,
} from '../../runtime/graphs/write-graphs.js';
import { type ModelSource, rangesOf } from '../../runtime/store/source.js';
import { findCheckpoint, readWeightIndex, WeightsError } from '../../runtime/weights/index.js';
import { parseObject } from './facts.js';

export interface OwnRequest {
  source: ModelSource;
  info: ModelInfo;
  head: Head;
  modelType: string | undefined;
  /** Pack matrices to so many bits; the weights as they are if absent. */
  bits?: 4 | 8 | undefined;
}

/** Graphs that were written for a repository. */
export interface OwnGraphs {
  /** Role -> path, as in model.json. */
  graphs: Record<string, string>;
  written: WrittenGraph[];
  /** The files that their weights lie in. One that is still to be made has no hash. */
  files: RepoFile[];
  toMake?: ToMake;
  dtype: Dtype;
  /** Numbers in the tensors that they read. */
  parameters: number;
  reason: string;
}

/** A file of weights that is made of those of the repository. */
export interface ToMake {
  recipe: Recipe;
  /** The files that it is made of. */
  sources: RepoFile[];
  /** The same graphs over those files. */
  plain: WrittenGraph[];
}

/** Why no graph can be written. */
export interface NoGraphs {
  problem: string;
  remedy?: string | undefined;
  /** True where the repository has a checkpoint and its family has a writer. */
  tried: boolean;
}

/**
 * Writes graphs over the PyTorch weights of a repository, of which it reads the headers only.
 * @returns what is in the way, where it can't
 * @throws StoreError when the source fails
 */
export async function writeOwnGraphs(request: OwnRequest): Promise<OwnGraphs | NoGraphs> {
  const { source, info, head, modelType } = request;
  if (!hasWriter(modelType, head))
    return { problem: `no graph can be written for ${modelType ?? 'this model'}`, tried: false };
  try {
    const ranges = rangesOf(source, info);
    const checkpoint = findCheckpoint(ranges.files);
    const [text, index] = await Promise.all([source.readText(info, 'config.json'), readWeightIndex(ranges)]);
    const given = { config: parseObject('config.json', text), index, head };
    const { graphs, used, recipe } = request.bits ? writePacked(given, request.bits) : plain(given);
    const tensors = used.map((name) => index.get(name)!);
    const types = new Set(tensors.map(({ type }) => type));
    const named = new Set(tensors.map(({ file }) => file));
    const sources = info.files.filter(({ path }) => named.has(path));
    const how = recipe ? `, matrices packed to ${recipe.bits} bits` : ', computed in float32';
    return {
      graphs: Object.fromEntries(Object.keys(graphs).map((role) => [role, pathOf(role)])),
      written: writtenGraphs(graphs),
      ...(recipe
        ? {
            files: [{ path: recipe.file, size: recipe.size }],
            toMake: { recipe, sources, plain: writtenGraphs(writeGraphs(given).graphs) },
          }
        : { files: sources }),
      dtype: recipe ? (`q${recipe.bits}` as const) : dtypeOf(types),
      parameters: tensors.reduce((sum, { shape }) => sum + shape.reduce((a, b) => a * b, 1), 0),
      reason: `graph: written for ${modelType} over ${checkpoint.file.path} (${[...types].join(', ')})${how}`,
    };
  } catch (error) {
    if (error instanceof GraphError) return { problem: error.message, tried: true };
    if (error instanceof WeightsError)
      return { problem: error.reason, remedy: error.remedy, tried: error.code !== 'no-weights' };
    throw error;
  }
}

type Given = Omit<GraphsRequest, 'storage'>;

const plain = (given: Given): WrittenGraphs & { recipe?: undefined } => writeGraphs(given);

/** The file is named after its recipe, since tasks read different parts of a network. */
function writePacked(given: Given, bits: 4 | 8): WrittenGraphs & { recipe: Recipe } {
  const write = (file: string) => {
    const storage = packedStorage(file, bits);
    return { ...writeGraphs({ ...given, storage }), recipe: storage.recipe() };
  };
  const { parts } = write('').recipe;
  const digest = createHash('sha256').update(JSON.stringify(parts)).digest('hex');
  return write(`slipway-q${bits}-${digest.slice(0, 12)}.bin`);
}

const pathOf = (role: string): string => `graphs/${role}.onnx`;

const writtenGraphs = (graphs: WrittenGraphs['graphs']): WrittenGraph[] =>
  Object.entries(graphs).map(([role, bytes]) => writtenGraph(role, bytes));

function writtenGraph(role: string, bytes: Uint8Array): WrittenGraph {
  return {
    path: pathOf(role),
    size: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    content: Buffer.from(bytes).toString('base64'),
  };
}

/** The narrowest type that most of a checkpoint's bytes may be in. */
function dtypeOf(types: ReadonlySet<string>): Dtype {
  if (types.has('BF16')) return 'bf16';
  return types.has('F16') ? 'fp16' : 'fp32';
}
