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

/** Takes work that can wait until the model has answered; each begins when the one before has ended. */
export type Defer = (work: () => Promise<void>) => void;

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
  /** No limits if absent. */
  memory?: MemoryLimits | undefined;
  /** Most pixels of an image. */
  maxPixels: number;
  /** Longest sound or video. */
  maxSeconds: number;
  /** Set in the engine's process only. Absent: all is done before the model is ready. */
  defer?: Defer | undefined;
}
