import { posix } from 'node:path';
import type { RepoFile } from '../core/spec.js';
import { StoreError } from './errors.js';

/** Names of external weight files, relative to the graph's folder, by graph path. */
export type ExternalFileNames = Readonly<Record<string, readonly string[]>>;

/** Weights of other frameworks, which no graph refers to. */
const FOREIGN =
  /\.(?:onnx|safetensors|pt|pth|ckpt|h5|msgpack|gguf|ot|tflite|mlmodel|xml|json|jinja|txt|md|model|py|npz|pkl|png|jpe?g|wav|mp[34])$|(?:pytorch_model|openvino_model|training_args|optimizer|scheduler|flax_model|tf_model)[^/]*$/i;
const LARGE_BYTES = 2 ** 20;

/**
 * The files that hold the weights of a graph: by the names that the graph itself gives where those are known, else
 * by the habits of the exporters.
 * @throws StoreError not_found when the graph names a file that the repository lacks
 */
export function externalFiles(
  graph: RepoFile,
  files: readonly RepoFile[],
  hints: ExternalFileNames | undefined,
): RepoFile[] {
  const names = hints?.[graph.path];
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

/** Files beside a graph that look as if they held its weights: named after it, or nameless blobs beside a lone graph. */
export function likelyExternalFiles(graph: RepoFile, files: readonly RepoFile[]): RepoFile[] {
  const beside = files.filter((file) => posix.dirname(file.path) === posix.dirname(graph.path));
  const named = beside.filter((file) => isNamedAfter(graph.path, file.path));
  if (named.length > 0) return named;
  if (beside.filter(({ path }) => path.endsWith('.onnx')).length > 1) return [];
  return beside.filter((file) => file.size >= LARGE_BYTES && !FOREIGN.test(file.path));
}

/** model.onnx_data, model.onnx_data_1, model.onnx.data, model.data */
function isNamedAfter(graph: string, path: string): boolean {
  const rest = path.startsWith(graph) ? path.slice(graph.length) : undefined;
  if (rest !== undefined) return /^[._]data(?:_\d+)?$/.test(rest);
  return path === graph.replace(/\.onnx$/, '.data');
}
