import { RunError } from '../../../core/errors.js';
import type { LoadRequest } from '../../../core/load-request.js';
import { createSingleRuns } from '../../batching/single-runs.js';
import { graphSource } from '../../sessions/graph-source.js';
import { availableMemory } from '../../sessions/available-memory.js';
import { requireOutputs } from '../../sessions/require-outputs.js';
import { openSessionPool } from '../../sessions/session-pool.js';
import { toFloat32 } from '../../sessions/tensors.js';

/**
 * Makes audio of mel frames.
 * @param bands numbers of a frame
 * @throws RunError 422 for more frames than there is memory for
 */
export type Vocoder = (frames: Float32Array, bands: number, signal: AbortSignal) => Promise<Float32Array>;

/** What a block of SpeechT5HifiGan's last layer holds per frame: samples, channels, bytes of a float, tensors. */
const BYTES_PER_FRAME = 256 * 32 * 4 * 3;

/** Exports have both in one graph. */
const BOTH = 'decoder_postnet_and_vocoder';

/** Graphs of spectrogram [frames, bands] -> waveform [samples]: that of exports, or the two of ours. */
export async function openVocoder(request: LoadRequest): Promise<Vocoder> {
  const isExport = BOTH in request.spec.graphs;
  const [smooth, speak] = await Promise.all([
    isExport ? undefined : openFrames(request, 'postnet', 'smoothed'),
    openFrames(request, isExport ? BOTH : 'vocoder', 'waveform'),
  ]);
  return async (frames, bands, signal) => {
    const dims = [frames.length / bands, bands];
    requireRoom(dims[0]!, availableMemory(request.memory));
    const smoothed = smooth ? await smooth(frames, dims, signal) : frames;
    return speak(smoothed, dims, signal);
  };
}

async function openFrames(request: LoadRequest, role: string, output: string) {
  // One speech at a time: the memory of several would add up.
  const pool = await openSessionPool({ ...request, workers: 0 }, graphSource(request, role));
  requireOutputs(pool.outputs, [output]);
  const run = createSingleRuns(pool);
  return async (data: Float32Array, dims: number[], signal: AbortSignal): Promise<Float32Array> => {
    const outputs = await run({ spectrogram: { type: 'float32', data, dims } }, signal);
    return toFloat32(outputs[output]!);
  };
}

function requireRoom(frames: number, room: number): void {
  if (frames * BYTES_PER_FRAME <= room) return;
  throw new RunError(
    'unprocessable',
    `text: the speech has ${frames} frames, and there is memory for ${Math.floor(room / BYTES_PER_FRAME)}: shorten the text, or give the server more memory`,
  );
}
