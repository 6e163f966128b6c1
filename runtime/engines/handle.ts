import type { Handles, Head } from '../core/handles.js';
import type { Device, ModelSpec } from '../core/spec.js';

export interface LoadRequest {
  spec: ModelSpec;
  /** Folder that holds the spec's files. */
  dir: string;
  device: Device;
  /** Intra-op threads of each session. */
  threads: number;
  /** Most pixels that a picture may have. */
  maxPixels: number;
}

/** Opens what a head needs. Rejects with a RunError (`not_ready`) that says what is wrong with the model's files. */
export type HeadLoader<H extends Head> = (request: LoadRequest) => Promise<Handles[H]>;
