import type { NetworkFacts } from './network.js';
import type { ModelReaders } from './readers.js';
import type { TaskId } from './task-ids.js';

/** Runtime images, which differ in their native packages. */
export const PROFILES = ['text', 'vision', 'media', 'llama'] as const;
export type Profile = (typeof PROFILES)[number];

/**
 * How models are computed: one run per answer (transformers), many runs that write text (generation), audio clips (speech),
 * noise that becomes images or video in steps (diffusion); files of GGUF by llama.cpp (llama).
 */
export const ENGINE_IDS = ['transformers', 'generation', 'speech', 'diffusion', 'llama'] as const;
export type EngineId = (typeof ENGINE_IDS)[number];

/** Weight formats, by their names in ONNX exports on the hub; bf16 is one of PyTorch's weights only. */
export const DTYPES = [
  'fp32',
  'fp16',
  'bf16',
  'q8',
  'q6',
  'q5',
  'int8',
  'uint8',
  'q4',
  'q4f16',
  'bnb4',
] as const;
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

/** Facts from a source (hub or folder) about a repository at one commit. */
export interface ModelInfo {
  /** `org/name`, in the source's spelling. */
  id: string;
  /** The requested branch, tag or commit. */
  revision: string;
  /** The commit that `revision` pointed to. */
  commit: string;
  pipelineTag?: string;
  libraryName?: string;
  tags: string[];
  license?: string;
  /** False, or how access is granted. */
  gated: false | 'auto' | 'manual';
  files: RepoFile[];
  /** Where it lies on this machine, if it comes from no hub: for remedies. */
  folder?: string;
}

/** Decisions about a model, made at build time and written to model.json; the server only reads them. */
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
  /** Graph role (`model`, `encoder_model`, …) -> path of its ONNX file. */
  graphs: Record<string, string>;
  /** All files that the model needs, and no others, sorted by path. */
  files: RepoFile[];
  /** Of an adapter: the model that its weights were merged into. Else the repository that some of the files are of. */
  base?: BaseModel;
  /** Graphs that the builder wrote, over weights in `files`. */
  written?: WrittenGraph[];
  /** Of graphs that transformers' exporter made: what by. Without `written`, they are still to be made. */
  exported?: ExportRecord;
  /** Fields of config.json, as paths, that nothing reads and that the operator had ignored. */
  ignoredConfig?: string[];
  /** What memory is computed from; nothing is known of the network's memory if absent. */
  network?: NetworkFacts;
  /** What reads the model's files; absent in files of older builders. */
  readers?: ModelReaders;
  /** Of weights that the builder packed: how alike the network computes, 1 being the same; absent where not measured. */
  likeness?: number;
  /** Of a decoder that the builder packed. */
  perplexity?: Perplexity;
}

/** exp of the mean of -ln p of the tokens of bundled texts: of the network as it was, and of the packed one. */
export interface Perplexity {
  plain: number;
  packed: number;
}

/** The repository of a model that an adapter changes, or of a network that finishes what the model makes. */
export interface BaseModel {
  id: string;
  /** As the adapter asks for it. */
  revision: string;
  commit: string;
  /** Paths of the files that are its, not the model's own. */
  files: string[];
  /** Where they lie among the model's files; beside them if absent. */
  folder?: string | undefined;
}

/** How graphs were exported. */
export interface ExportRecord {
  /** Version of the recipe. */
  recipe: number;
  /** Packages and their versions. */
  tools: Record<string, string>;
}

/** Graphs have names and places of weights, no weights: so many bytes are enough. */
export const LARGEST_GRAPH = 2 ** 26;

export interface WrittenGraph {
  /** As in `graphs`. */
  path: string;
  /** Bytes, and SHA-256 in hex, of the graph. */
  size: number;
  sha256: string;
  /** The graph in base64: not compressed, since compressors differ between machines. */
  content: string;
}

/** What an image computes on. `vulkan` is for models that llama.cpp computes: GPUs of AMD and Intel, too. */
export const DEVICES = ['cpu', 'cuda', 'vulkan'] as const;
export type Device = (typeof DEVICES)[number];

/** Bytes of all files of a spec. */
export function totalBytes(spec: { files: readonly RepoFile[] }): number {
  return spec.files.reduce((sum, file) => sum + file.size, 0);
}
