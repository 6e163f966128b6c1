import { posix } from 'node:path';
import type { RepoFile } from '../core/spec.js';
import { StoreError } from './errors.js';

/** Names of external weight files, relative to the graph's folder, by graph path. */
export type ExternalFileNames = Readonly<Record<string, readonly string[]>>;

/** Files that are never external weights, such as weights of other frameworks. */
const FOREIGN =
  /\.(?:onnx|safetensors|pt|pth|ckpt|h5|msgpack|gguf|ot|tflite|mlmodel|xml|json|jinja|txt|md|model|py|npz|pkl|png|jpe?g|wav|mp[34])$|(?:pytorch_model|openvino_model|training_args|optimizer|scheduler|flax_model|tf_model)[^/]*$/i;
const LARGE_BYTES = 2 ** 20;

/**
 * The files that hold the weights of a graph: those that the graph names, if known; else guessed from the names that
 * exporters use.
 * @throws StoreError not_found when the graph names a file that the repository lacks
 */
export function externalFiles(
  graph: RepoFile,
  files: readonly RepoFile[],
  known: ExternalFileNames | undefined,
): RepoFile[] {
  const names = known?.[graph.path];
  if (!names) return likelyExternalFiles(graph, files);
  const dir = posix.dirname(graph.path);
  return names.map((name) => {
    const path = posix.join(dir, name);
    const file = files.find((candidate) => candidate.path === path);
    if (file) return file;
    throw new StoreError(
      'not_found',
      `${graph.path} keeps its weights in ${path}, which the repository lacks`,
      {
        remedy: 'the export is incomplete: take another dtype or another repository',
      },
    );
  });
}

/** Guesses the weight files of a graph: files named after it, else large unknown files beside the only graph. */
export function likelyExternalFiles(graph: RepoFile, files: readonly RepoFile[]): RepoFile[] {
  const siblings = files.filter((file) => posix.dirname(file.path) === posix.dirname(graph.path));
  const named = siblings.filter((file) => isNamedAfter(graph.path, file.path));
  if (named.length > 0) return named;
  if (siblings.filter(({ path }) => path.endsWith('.onnx')).length > 1) return [];
  return siblings.filter((file) => file.size >= LARGE_BYTES && !FOREIGN.test(file.path));
}

/** model.onnx_data, model.onnx_data_1, model.onnx.data, model.data */
function isNamedAfter(graph: string, path: string): boolean {
  const rest = path.startsWith(graph) ? path.slice(graph.length) : undefined;
  if (rest !== undefined) return /^[._]data(?:_\d+)?$/.test(rest);
  return path === graph.replace(/\.onnx$/, '.data');
}
