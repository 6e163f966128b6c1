import { engineOf } from '../../runtime/core/engines.js';
import type { NetworkSizes } from '../../runtime/core/network.js';
import type { ModelSpec } from '../../runtime/core/spec.js';
import type { RunBytes } from '../../runtime/core/media-run-memory.js';
import type { ImageMemory } from './vision/image-memory.js';

/** Input of memory predictions. */
export interface MemoryInput {
  spec: Pick<ModelSpec, 'task' | 'engine' | 'profile' | 'dtype' | 'graphs' | 'files' | 'written'>;
  sizes: NetworkSizes;
  /** What images take, for tasks that read them. */
  image: ImageMemory;
  /** Bytes of a run with an audio clip of usual length, where known. */
  audio?: number | undefined;
  /** Bytes of the runs that make an image out of noise. */
  noise?: RunBytes | undefined;
  /** Session threads: one per core that the container may use, 8 at most. */
  workers: number;
}

/** How sessions are opened; see runtime/engines/sessions/session-pool.ts and generation/decoding/. */
export type SessionKind = 'pool' | 'single' | 'decoder' | 'encoder-decoder' | 'media-chat';

/** Graphs whose features stand among tokens. */
export const ENCODERS = ['vision_encoder', 'audio_encoder'];

/** Larger weights are not prepared for sharing between sessions. */
const MAX_SHARED_BYTES = 4 * 2 ** 30;

export function sessionKind({ spec, workers }: Pick<MemoryInput, 'spec' | 'workers'>): SessionKind {
  const { runs } = engineOf(spec.engine);
  if (runs === 'per-token') {
    if ('model' in spec.graphs) return 'decoder';
    // A decoder that reads the features of media among its tokens, without an encoder of text.
    const reads = ENCODERS.some((role) => role in spec.graphs) && !('encoder_model' in spec.graphs);
    return reads ? 'media-chat' : 'encoder-decoder';
  }
  // One run of a network that makes images fills all processors.
  if (runs === 'per-step') return 'single';
  const shared = workers > 1 && weightBytes(spec) <= MAX_SHARED_BYTES;
  return shared ? 'pool' : 'single';
}

/** Bytes of the decoder's graph of a `media-chat`. */
export function decoderBytes({ graphs, files }: Pick<ModelSpec, 'graphs' | 'files'>): number {
  const path = graphs['decoder_model_merged'];
  return files.reduce((sum, file) => sum + (path && file.path.startsWith(path) ? file.size : 0), 0);
}

/** Bytes of graphs and their external weight files. */
export function weightBytes({ files }: Pick<ModelSpec, 'files'>): number {
  const isWeight = (path: string) => /\.(?:onnx|onnx_data(?:_\d+)?|data|bin|safetensors|gguf)$/.test(path);
  return files.reduce((sum, { path, size }) => sum + (isWeight(path) ? size : 0), 0);
}
