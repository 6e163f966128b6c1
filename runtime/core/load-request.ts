import type { Device, ModelSpec } from './spec.js';

export interface MemoryLimits {
  /** Bytes that both processes may hold. */
  limit: number;
  /** Bytes of those that bodies of requests may come to take. */
  bodies: number;
}

export interface LoadRequest {
  spec: ModelSpec;
  /** Folder that holds the spec's files. */
  dir: string;
  device: Device;
  /** Threads that all sessions together may keep busy. */
  threads: number;
  /** Runs of an encoder side by side, each on a thread of this process; 0: on its main thread, one at a time. */
  workers: number;
  /** True: as many workers even where each has to hold the weights anew. */
  copyWeights: boolean;
  /** Bytes that the caches of all generations under way may take. */
  cacheBytes: number;
  /** Absent: there is no end. */
  memory?: MemoryLimits | undefined;
  /** Most pixels that a picture may have. */
  maxPixels: number;
}
