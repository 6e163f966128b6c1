import { RunError } from '../../../core/errors.js';
import type { LoadRequest } from '../../../core/load-request.js';
import { largestWithin } from '../../../core/run-memory.js';
import { createSingleRuns } from '../../batching/single-runs.js';
import { firstNumber, type Json } from '../../repository/model-folder.js';
import { graphSource } from '../../sessions/graph-source.js';
import { availableMemory } from '../../sessions/available-memory.js';
import { requireOutputs } from '../../sessions/require-outputs.js';
import { openSessionPool } from '../../sessions/session-pool.js';
import { toFloat32 } from '../../sessions/tensors.js';
import { fewestFrames } from './frames.js';

/** Makes audio of codes. */
export interface Codec {
  /** Samples per second. */
  rate: number;
  /** Of the shortest audio clip. */
  fewestFrames: number;
  /** @throws RunError 422 for more frames than there is memory for */
  checkFrames(frames: number): void;
  /** @param codes of each codebook, equally many; one frame each */
  decode(codes: readonly (readonly number[])[], signal: AbortSignal): Promise<Float32Array>;
}

const FLOAT = 4;
/** What a block of the last layer reads, adds and gives. */
const TENSORS = 3;
/** EncodecConfig */
const DEFAULTS = { rate: 24_000, ratios: [8, 5, 4, 2], filters: 32 };

/**
 * The graph encodec_decode: audio_codes [1, 1, codebooks, frames] -> audio_values [1, 1, samples].
 * @param config of the codec
 */
export async function openCodec(request: LoadRequest, config: Json): Promise<Codec> {
  // One audio clip at a time: the memory of several would add up.
  const path = graphSource(request, 'encodec_decode');
  const pool = await openSessionPool({ ...request, workers: 0 }, path);
  requireOutputs(pool.outputs, ['audio_values']);
  const run = createSingleRuns(pool);
  const ratios = (config['upsampling_ratios'] as number[] | undefined) ?? DEFAULTS.ratios;
  const bytesPerFrame =
    ratios.reduce((product, ratio) => product * ratio, 1) *
    (firstNumber(config, 'num_filters') ?? DEFAULTS.filters) *
    FLOAT *
    TENSORS;
  return {
    rate: firstNumber(config, 'sampling_rate') ?? DEFAULTS.rate,
    // Graphs of our own fill up what is short.
    fewestFrames: typeof path === 'string' ? fewestFrames(config) : 1,
    checkFrames(frames) {
      const room = availableMemory(request.memory);
      if (frames * bytesPerFrame <= room) return;
      const longest = largestWithin(room, frames, (count) => count * bytesPerFrame);
      throw new RunError(
        'unprocessable',
        `params.max_new_tokens: the audio may get ${frames} frames long, and there is memory for ${longest}: ask for less, or give the server more memory`,
      );
    },
    async decode(codes, signal) {
      const data = BigInt64Array.from(codes.flat(), BigInt);
      const dims = [1, 1, codes.length, codes[0]!.length];
      const outputs = await run({ audio_codes: { type: 'int64', data, dims } }, signal);
      return toFloat32(outputs['audio_values']!);
    },
  };
}
