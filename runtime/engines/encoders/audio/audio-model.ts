import type { LoadRequest } from '../../../core/load-request.js';
import type { AudioFeatures } from '../../processors/audio/audio-features.js';
import { type Json } from '../../repository/model-folder.js';
import { readersIn } from '../../repository/named-readers.js';
import { readModelConfig } from '../../repository/model-config.js';
import { graphSource } from '../../sessions/graph-source.js';
import { requireOutputs } from '../../sessions/require-outputs.js';
import { openSessionPool } from '../../sessions/session-pool.js';
import type { Tensors } from '../../sessions/tensors.js';
import { openAudioInput } from '../../audio/audio-input.js';
import { createTensorEncoder } from '../../batching/tensor-encoder.js';
import { audioRunBytes } from '../../../core/media-run-memory.js';
import { requireSteps } from '../../audio/steps-left.js';
import { requireRunRoom, USUAL_SECONDS } from '../../audio/run-room.js';
import { checkAudioInputs, audioRow } from '../../audio/audio-row.js';

export interface AudioModel {
  /** config.json */
  config: Json;
  /** Samples per second. */
  rate: number;
  /** Samples from one frame to the next, as the extractor says. */
  hop: number | undefined;
  /**
   * Samples of one channel, at the model's rate.
   * @throws RunError 413 too long, 422 no audio clip that can be decoded; the signal's reason
   */
  samples(bytes: Uint8Array, signal: AbortSignal): Promise<Float32Array>;
  /**
   * Runs the graph over samples.
   * @throws RunError 413 for more than there is memory for, 422 an audio clip that Python's extractor fails on, or one that is too short; the signal's reason
   */
  run(samples: Float32Array, signal: AbortSignal): Promise<Tensors>;
}

/**
 * Opens what every head over an encoder of audio clips needs; the graph is `model`.
 * @param needed outputs that the head reads
 */
export async function openAudioModel(request: LoadRequest, ...needed: string[]): Promise<AudioModel> {
  const [config, { inputs, outputs, sessions }] = await Promise.all([
    readModelConfig(request.dir),
    openSessionPool(request, graphSource(request, 'model')),
  ]);
  requireOutputs(outputs, needed);
  const audios = await openAudioInput(request, () => encoder.availableBytes);
  const { extractor } = audios;
  const rows = await sampleRows(extractor.extract.bind(extractor), extractor.rate);
  checkAudioInputs(inputs, rows[0]!);
  const bytesOf = (seconds: number) => audioRunBytes(request.spec.network?.audio, seconds * extractor.rate);
  const encoder = await createTensorEncoder(
    { sessions },
    {
      sample: (seed) => audioRow(inputs, copyOf(rows[seed % rows.length]!)),
      ...{ memory: request.memory, usualBytes: () => bytesOf(USUAL_SECONDS) },
    },
  );
  return {
    config,
    ...{ rate: extractor.rate, hop: extractor.hop },
    samples: audios.samples,
    async run(samples, signal) {
      const seconds = samples.length / extractor.rate;
      requireRunRoom(seconds, bytesOf, encoder.largestRun);
      const features = await extractor.extract(samples, signal);
      requireSteps(config, readersIn(request).audio, features.dims[1]!);
      return encoder.forward(audioRow(inputs, features), signal, bytesOf(seconds));
    },
  };
}

/** Audio clips of a second to try graphs with. */
function sampleRows(
  extract: (samples: Float32Array, signal: AbortSignal) => Promise<AudioFeatures>,
  rate: number,
): Promise<AudioFeatures[]> {
  const signal = new AbortController().signal;
  return Promise.all(
    [7, 11].map((step) =>
      extract(
        Float32Array.from({ length: rate }, (_, i) => Math.sin(i / step) / 2),
        signal,
      ),
    ),
  );
}

const copyOf = (features: AudioFeatures): AudioFeatures => ({ ...features, values: features.values.slice() });
