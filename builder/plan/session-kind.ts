import type { NetworkSizes } from '../../runtime/core/network-sizes.js';
import type { ModelSpec } from '../../runtime/core/spec.js';

/** What memory is predicted from. */
export interface MemoryInput {
  spec: Pick<ModelSpec, 'task' | 'engine' | 'profile' | 'dtype' | 'graphs' | 'files'>;
  sizes: NetworkSizes;
  /** Session threads: one per core that the container may use, 8 at most. */
  workers: number;
}

/** How sessions of this model are opened: see runtime/engines/sessions/session-pool.ts and generation/decoding/. */
export type SessionKind = 'pool' | 'single' | 'decoder' | 'encoder-decoder';

/** Weights beyond this are not written once more for several sessions. */
const LARGEST_SHARED = 4 * 2 ** 30;

export function sessionKind({ spec, workers }: Pick<MemoryInput, 'spec' | 'workers'>): SessionKind {
  if (spec.engine === 'generation') return 'model' in spec.graphs ? 'decoder' : 'encoder-decoder';
  const shared = workers > 1 && weightBytes(spec) <= LARGEST_SHARED;
  return shared ? 'pool' : 'single';
}

/** Bytes of graphs and of the files in which they keep their weights. */
export function weightBytes({ files }: Pick<ModelSpec, 'files'>): number {
  const isWeight = (path: string) => /\.(?:onnx|onnx_data(?:_\d+)?|data|bin)$/.test(path);
  return files.reduce((sum, { path, size }) => sum + (isWeight(path) ? size : 0), 0);
}
