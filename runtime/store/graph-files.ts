import type { Dtype, RepoFile } from '../core/spec.js';

/** An ONNX file of a repository, with the facts in its name. */
export interface GraphFile {
  file: RepoFile;
  /** What the graph computes: `model`, `encoder_model`, `unet`, … */
  role: string;
  dtype: Dtype;
  /** Folder of the export; empty for the repository's root. */
  base: string;
  /** 0 for the plain name of a weight format; more for variants, which are taken only if there is nothing else. */
  rank: number;
}

const SUFFIXES: [suffix: RegExp, dtype: Dtype, rank: number][] = [
  [/_q4f16$/, 'q4f16', 0],
  [/_fp16$/, 'fp16', 0],
  [/_quantized$/, 'q8', 0],
  [/_int8$/, 'int8', 0],
  [/_uint8$/, 'uint8', 0],
  [/_bnb4$/, 'bnb4', 0],
  [/_q4$/, 'q4', 0],
  // Optimized variants, some for one kind of machine: correct, but not the original model.
  [/_optimized$|_O[123]$/, 'fp32', 1],
  [/_O4$/, 'fp16', 1],
  [/_qint8(?:_\w+)?$/, 'int8', 2],
  [/_quint8(?:_\w+)?$/, 'uint8', 2],
];

/** Folders named after a weight format. */
const DTYPE_FOLDERS: Record<string, Dtype> = {
  fp32: 'fp32',
  fp16: 'fp16',
  int8: 'int8',
  uint8: 'uint8',
  q4: 'q4',
  q4f16: 'q4f16',
  bnb4: 'bnb4',
  q8: 'q8',
  quantized: 'q8',
};

/** All files that may be one of the roles; a file may match several. */
export function graphFiles(files: readonly RepoFile[], roles: readonly string[]): GraphFile[] {
  const graphs = files.filter(({ path }) => path.endsWith('.onnx'));
  return graphs.flatMap((file) => roles.flatMap((role) => graphInRole(file, role) ?? []));
}

function graphInRole(file: RepoFile, role: string): GraphFile | undefined {
  const parts = file.path.split('/');
  const { name, dtype, rank } = readName(parts.pop()!.slice(0, -'.onnx'.length));
  const folder = parts.at(-1) ?? '';
  // Pipelines of several models have a folder for each: unet/model.onnx.
  const ownFolder = name === 'model' && role !== 'model' && folder === role;
  if (name !== role && !ownFolder) return undefined;
  const base = (ownFolder ? parts.slice(0, -1) : parts).join('/');
  const folderDtype = dtype === 'fp32' && !ownFolder ? DTYPE_FOLDERS[folder] : undefined;
  return { file, role, base, rank, dtype: folderDtype ?? dtype };
}

function readName(stem: string): { name: string; dtype: Dtype; rank: number } {
  for (const [suffix, dtype, rank] of SUFFIXES) {
    if (suffix.test(stem)) return { name: stem.replace(suffix, ''), dtype, rank };
  }
  return { name: stem, dtype: 'fp32', rank: 0 };
}

/** Preference of folders: onnx/, the root, then the shortest path. */
export function compareFolders(a: string, b: string): number {
  return folderRank(a) - folderRank(b) || a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
}

function folderRank(base: string): number {
  if (base === 'onnx') return 0;
  return base === '' ? 1 : 2;
}
