import type { LoadRequest } from '../../../core/load-request.js';
import type { SoundFeatures } from '../../processors/audio/sound-features.js';
import { type Json } from '../../repository/model-folder.js';
import { readersIn } from '../../repository/named-readers.js';
import { readModelConfig } from '../../repository/model-config.js';
import { graphSource } from '../../sessions/graph-source.js';
import { requireOutputs } from '../../sessions/require-outputs.js';
import { openSessionPool } from '../../sessions/session-pool.js';
import type { Tensors } from '../../sessions/tensors.js';
import { openSoundInput } from '../../sounds/sound-input.js';
import { createTensorEncoder } from '../../batching/tensor-encoder.js';
import { audioRunBytes } from '../../../core/media-run-memory.js';
import { requireSteps } from '../../sounds/steps-left.js';
import { requireRunRoom, USUAL_SECONDS } from '../../sounds/run-room.js';
import { checkSoundInputs, soundRow } from '../../sounds/sound-row.js';

export interface AudioModel {
  /** config.json */
  config: Json;
  /** Samples per second. */
  rate: number;
  /**
   * Samples of one channel, at the model's rate.
   * @throws RunError 413 too long, 422 no sound that can be decoded; the signal's reason
   */
  samples(bytes: Uint8Array, signal: AbortSignal): Promise<Float32Array>;
  /**
   * Runs the graph over samples.
   * @throws RunError 413 for more than there is memory for, 422 a sound that Python's extractor fails on, or one that is too short; the signal's reason
   */
  run(samples: Float32Array, signal: AbortSignal): Promise<Tensors>;
}

/**
 * Opens what every head over an encoder of sounds needs; the graph is `model`.
 * @param needed outputs that the head reads
 */
export async function openAudioModel(request: LoadRequest, ...needed: string[]): Promise<AudioModel> {
  const [config, { inputs, outputs, sessions }] = await Promise.all([
    readModelConfig(request.dir),
    openSessionPool(request, graphSource(request, 'model')),
  ]);
  requireOutputs(outputs, needed);
  const sounds = await openSoundInput(request, () => encoder.availableBytes);
  const { extractor } = sounds;
  const rows = await sampleRows(extractor.extract.bind(extractor), extractor.rate);
  checkSoundInputs(inputs, rows[0]!);
  const bytesOf = (seconds: number) => audioRunBytes(request.spec.network?.audio, seconds * extractor.rate);
  const encoder = await createTensorEncoder(
    { sessions },
    {
      sample: (seed) => soundRow(inputs, copyOf(rows[seed % rows.length]!)),
      ...{ memory: request.memory, usualBytes: () => bytesOf(USUAL_SECONDS) },
    },
  );
  return {
    config,
    rate: extractor.rate,
    samples: sounds.samples,
    async run(samples, signal) {
      const seconds = samples.length / extractor.rate;
      requireRunRoom(seconds, bytesOf, encoder.largestRun);
      const features = await extractor.extract(samples, signal);
      requireSteps(config, readersIn(request).audio, features.dims[1]!);
      return encoder.forward(soundRow(inputs, features), signal, bytesOf(seconds));
    },
  };
}

/** Sounds of a second to try graphs with. */
function sampleRows(
  extract: (samples: Float32Array, signal: AbortSignal) => Promise<SoundFeatures>,
  rate: number,
): Promise<SoundFeatures[]> {
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

const copyOf = (features: SoundFeatures): SoundFeatures => ({ ...features, values: features.values.slice() });
