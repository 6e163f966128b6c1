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

/** The graph decoder_postnet_and_vocoder: spectrogram [frames, bands] -> waveform [samples]. */
export async function openVocoder(request: LoadRequest): Promise<Vocoder> {
  // One speech at a time: the memory of several would add up.
  const path = graphSource(request, 'decoder_postnet_and_vocoder');
  const pool = await openSessionPool({ ...request, workers: 0 }, path);
  requireOutputs(pool.outputs, ['waveform']);
  const run = createSingleRuns(pool);
  return async (frames, bands, signal) => {
    const dims = [frames.length / bands, bands];
    requireRoom(dims[0]!, availableMemory(request.memory));
    const { waveform } = await run({ spectrogram: { type: 'float32', data: frames, dims } }, signal);
    return toFloat32(waveform!);
  };
}

function requireRoom(frames: number, room: number): void {
  if (frames * BYTES_PER_FRAME <= room) return;
  throw new RunError(
    'unprocessable',
    `text: the speech has ${frames} frames, and there is memory for ${Math.floor(room / BYTES_PER_FRAME)}: shorten the text, or give the server more memory`,
  );
}
