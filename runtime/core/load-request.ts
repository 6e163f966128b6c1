import type { ReadProgress } from './read-progress.js';
import type { Device, ModelSpec } from './spec.js';

export interface MemoryLimits {
  /** Bytes that both processes may hold. */
  limit: number;
  /** The part of it that request bodies may take. */
  bodies: number;
}

/** How products are computed over packed weights whose export does not say it: as floats, or as integers where that loses nothing. */
export const PRECISIONS = ['exact', 'fast'] as const;
export type Precision = (typeof PRECISIONS)[number];

/** Takes work that can wait until all sessions are there; each begins when the one before has ended. */
export type Defer = (work: () => Promise<void>) => void;

/** Types that numbers in the cache of llama.cpp can have. */
export const CACHE_TYPES = ['f32', 'f16', 'q8_0'] as const;

/** What operators ask of llama.cpp. */
export interface LlamaSettings {
  /** Tokens that the cache holds, of all texts together; as memory and the model allow if absent. */
  contextLength?: number | undefined;
  /** By the weights if absent: f32 for those of 32 bits, else f16. */
  cacheType?: (typeof CACHE_TYPES)[number] | undefined;
  /** Layers on GPUs; as many as fit if absent. */
  gpuLayers?: number | undefined;
  /** Shares of the GPUs. */
  tensorSplit?: readonly number[] | undefined;
}

export interface LoadRequest {
  spec: ModelSpec;
  /** Folder with the spec's files. */
  dir: string;
  device: Device;
  /** Threads for all sessions together. */
  threads: number;
  /** Concurrent runs of an encoder, each on a worker thread; 0: one at a time on the main thread. */
  workers: number;
  /** True: use all workers even if each needs its own copy of the weights. */
  copyWeights: boolean;
  /** Exact if absent. */
  precision?: Precision | undefined;
  /** Bytes for the KV caches of all running generations. */
  cacheBytes: number;
  /** For models that llama.cpp computes. */
  llama?: LlamaSettings | undefined;
  /** No limits if absent. */
  memory?: MemoryLimits | undefined;
  /** Most pixels of an image. */
  maxPixels: number;
  /** Longest audio clip or video. */
  maxSeconds: number;
  /** Sessions may be added while the model answers: true in the engine's process only. Else all are there before it is ready. */
  mayGrow?: boolean | undefined;
  /** Told how far large files are read while they are opened: in the engine's process only. */
  onRead?: ((progress: ReadProgress) => void) | undefined;
}
