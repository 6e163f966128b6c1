import type { TaskId } from './task-ids.js';

/** Which runtime image a model needs: what native code lies beside the server. */
export const PROFILES = ['text', 'vision', 'media'] as const;
export type Profile = (typeof PROFILES)[number];

/** How a family of models is computed: one run for an answer (transformers), or many (generation). */
export const ENGINE_IDS = ['transformers', 'generation'] as const;
export type EngineId = (typeof ENGINE_IDS)[number];

/** Weight formats by the names that ONNX exports on the hub carry. */
export const DTYPES = ['fp32', 'fp16', 'q8', 'int8', 'uint8', 'q4', 'q4f16', 'bnb4'] as const;
export type Dtype = (typeof DTYPES)[number];

/** One file of a repository at one commit. */
export interface RepoFile {
  /** Path inside the repository, with forward slashes. */
  path: string;
  /** Bytes. */
  size: number;
  /** SHA-256 of the content in hex (large files: the hub's lfs.oid). */
  sha256?: string;
  /** Git blob id in hex (small files): SHA-1 over "blob <size>\0" + content. */
  gitOid?: string;
}

/** What a source (hub or folder) says about a repository at one commit. */
export interface ModelInfo {
  /** `org/name`, spelled as the source spells it. */
  id: string;
  /** What was asked for: a branch, a tag or a commit. */
  revision: string;
  /** The commit that `revision` named at the time of asking. */
  commit: string;
  pipelineTag?: string;
  libraryName?: string;
  tags: string[];
  license?: string;
  /** False, or how access is granted. */
  gated: false | 'auto' | 'manual';
  files: RepoFile[];
}

/** What was decided about a model at build time. Written as model.json and never decided again at run time. */
export interface ModelSpec {
  specVersion: 1;
  id: string;
  revision: string;
  commit: string;
  task: TaskId;
  engine: EngineId;
  profile: Profile;
  dtype: Dtype;
  architecture?: string;
  modelType?: string;
  license?: string;
  /** Graph role (`model`, `encoder_model`, …) to the path of its ONNX file. */
  graphs: Record<string, string>;
  /** Every file that the model needs, and no other, sorted by path. */
  files: RepoFile[];
}

export type Device = 'cpu' | 'cuda';

/** Bytes of all files of a spec. */
export function totalBytes(spec: { files: readonly RepoFile[] }): number {
  return spec.files.reduce((sum, file) => sum + file.size, 0);
}
