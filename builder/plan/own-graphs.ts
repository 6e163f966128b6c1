import { createHash } from 'node:crypto';
import type { Head } from '../../runtime/core/handles/index.js';
import type { Dtype, ModelInfo, RepoFile, WrittenGraph } from '../../runtime/core/spec.js';
import { GraphError } from '../../runtime/graphs/errors.js';
import { hasWriter, writeGraphs } from '../../runtime/graphs/write-graphs.js';
import { type ModelSource, rangesOf } from '../../runtime/store/source.js';
import { findCheckpoint, readWeightIndex, WeightsError } from '../../runtime/weights/index.js';
import { parseObject } from './facts.js';

export interface OwnRequest {
  source: ModelSource;
  info: ModelInfo;
  head: Head;
  modelType: string | undefined;
}

/** Graphs that were written for a repository. */
export interface OwnGraphs {
  /** Role -> path, as in model.json. */
  graphs: Record<string, string>;
  written: WrittenGraph[];
  /** The files that their weights lie in. */
  files: RepoFile[];
  dtype: Dtype;
  /** Numbers in the tensors that they read. */
  parameters: number;
  reason: string;
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
    const { graphs, used } = writeGraphs({ config: parseObject('config.json', text), index, head });
    const tensors = used.map((name) => index.get(name)!);
    const types = new Set(tensors.map(({ type }) => type));
    const files = new Set(tensors.map(({ file }) => file));
    return {
      graphs: Object.fromEntries(Object.keys(graphs).map((role) => [role, pathOf(role)])),
      written: Object.entries(graphs).map(([role, bytes]) => writtenGraph(role, bytes)),
      files: info.files.filter(({ path }) => files.has(path)),
      dtype: dtypeOf(types),
      parameters: tensors.reduce((sum, { shape }) => sum + shape.reduce((a, b) => a * b, 1), 0),
      reason: `graph: written for ${modelType} over ${checkpoint.file.path} (${[...types].join(', ')}), computed in float32`,
    };
  } catch (error) {
    if (error instanceof GraphError) return { problem: error.message, tried: true };
    if (error instanceof WeightsError)
      return { problem: error.reason, remedy: error.remedy, tried: error.code !== 'no-weights' };
    throw error;
  }
}

const pathOf = (role: string): string => `graphs/${role}.onnx`;

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
