import { createHash } from 'node:crypto';
import type { Head } from '../../runtime/core/handles/index.js';
import type { ModelInfo, RepoFile } from '../../runtime/core/spec.js';
import { type ModelSource, rangesOf } from '../../runtime/store/source.js';
import {
  findCheckpoint,
  numbersIn,
  readWeightIndex,
  weightFilesOf,
  WeightsError,
  type WeightIndex,
} from '../../runtime/weights/index.js';
import type { ExportChoice } from './choice.js';
import { parseObject } from '../plan/facts.js';
import { verdictOf } from './known.js';
import { layersOf, requireBounded } from './limits.js';
import { recipesFor } from './recipes/index.js';
import { type ExportRecipe, RECIPE_VERSION, type ToolVersions } from './types.js';

/** A graph that is still to be exported. */
export interface GraphToExport {
  role: string;
  /** Where it stands in model.json. */
  path: string;
  recipe: ExportRecipe;
  /** Of everything that the graph depends on. */
  key: string;
}

/** An export that is still to be made. */
export interface ToExport {
  graphs: readonly GraphToExport[];
  versions: ToolVersions;
  index: WeightIndex;
  /** config.json, and the checkpoint's files. */
  sources: RepoFile[];
  layers: number;
  parameters: number;
  dtype: 'fp32' | 'fp16' | 'bf16';
  /** True for a type that was compared with Python. */
  known: boolean;
}

export interface ExportRequest {
  source: ModelSource;
  info: ModelInfo;
  head: Head;
  choice: ExportChoice;
  versions: ToolVersions;
}

/**
 * Plans the export of a repository's PyTorch weights; reads their headers only.
 * @returns a text that says why there is none
 * @throws Refusal for a configuration beyond its checkpoint; StoreError when the source fails
 */
export async function planExport({
  source,
  info,
  head,
  choice,
  versions,
}: ExportRequest): Promise<ToExport | string> {
  if (choice === 'never') return 'exports are switched off (--export never)';
  const read = async (name: string) => parseObject(name, await source.readText(info, name));
  const [config, processing] = await Promise.all([read('config.json'), readProcessing(info, read)]);
  const recipes = recipesFor({ head, config, processing });
  if (typeof recipes === 'string') return `no export: ${recipes}`;
  const modelType = config['model_type'] as string;
  const verdict = verdictOf(modelType, head);
  if (verdict.kind === 'refused') return `${modelType} can't be exported: ${verdict.reason}`;
  if (verdict.kind === 'untried' && choice !== 'force')
    return `exports of ${modelType} are untried; --export force tries it`;
  const checkpoint = await checkpointOf(source, info);
  if (typeof checkpoint === 'string') return checkpoint;
  const { index, files } = checkpoint;
  requireBounded(info.id, config, index);
  const named = new Set(['config.json', ...files]);
  const sources = info.files.filter(({ path }) => named.has(path));
  const graphs = Object.entries(recipes).map(([role, recipe]) => ({
    ...{ role, path: `graphs/${role}.onnx`, recipe },
    key: keyOf({ recipe, versions, sources }),
  }));
  return {
    ...{ graphs, versions, index, sources },
    layers: layersOf(index),
    parameters: numbersIn(index.values()),
    dtype: dtypeOf(index),
    known: verdict.kind === 'exports',
  };
}

type Json = Readonly<Record<string, unknown>>;

/** preprocessor_config.json, or the image part of the newer processor_config.json. */
async function readProcessing({ files }: ModelInfo, read: (name: string) => Promise<Json>): Promise<Json> {
  const own = 'preprocessor_config.json';
  if (files.some(({ path }) => path === own)) return read(own);
  const combined = await read('processor_config.json');
  return (combined['image_processor'] ?? combined) as Json;
}

/** Files of the checkpoint, the index of shards included. */
async function checkpointOf(
  source: ModelSource,
  info: ModelInfo,
): Promise<{ index: WeightIndex; files: string[] } | string> {
  const ranges = rangesOf(source, info);
  try {
    const { format, file } = findCheckpoint(ranges.files);
    if (format !== 'safetensors')
      return 'exports read safetensors only: pickles of strangers are not opened by Python';
    const [index, shards] = await Promise.all([readWeightIndex(ranges), weightFilesOf(ranges)]);
    return { index, files: [file.path, ...shards.map(({ path }) => path)] };
  } catch (error) {
    if (error instanceof WeightsError) return error.message;
    throw error;
  }
}

/** Exact: the graph depends on the weights' values, since equal tensors become one. */
function keyOf({
  recipe,
  versions,
  sources,
}: Pick<ToExport, 'versions' | 'sources'> & Pick<GraphToExport, 'recipe'>): string {
  const files = sources.map(({ path, sha256, gitOid }) => [path, sha256 ?? gitOid]);
  return createHash('sha256')
    .update(JSON.stringify([RECIPE_VERSION, recipe, versions, files]))
    .digest('hex')
    .slice(0, 16);
}

function dtypeOf(index: WeightIndex): ToExport['dtype'] {
  const types = new Set([...index.values()].map(({ type }) => type));
  if (types.has('BF16')) return 'bf16';
  return types.has('F16') ? 'fp16' : 'fp32';
}
