import type { LoadRequest } from '../../core/load-request.js';
import { requireFfmpeg } from '../../media/ffmpeg.js';
import { createAudioReader } from '../../media/audio-reader.js';
import { createFeatureExtractor } from '../processors/audio/feature-extractor.js';
import type { FeatureExtractor, AudioFeatures } from '../processors/audio/audio-features.js';
import { checkedProcessing } from '../processors/check-processing.js';
import { readersIn } from '../repository/named-readers.js';
import { type Json, readOptionalJson } from '../repository/model-folder.js';
import { availableMemory } from '../sessions/available-memory.js';

/** How one model gets its audio clips. */
export interface AudioInput {
  readonly extractor: FeatureExtractor;
  /** What the repository says of it. */
  readonly settings: Json;
  /**
   * Samples of one channel, at the extractor's rate.
   * @throws RunError 413 too long, 422 no audio clip that can be decoded; the signal's reason
   */
  samples(bytes: Uint8Array, signal: AbortSignal): Promise<Float32Array>;
  /** What the model reads of an audio clip; else as `samples`. */
  read(bytes: Uint8Array, signal: AbortSignal): Promise<AudioFeatures>;
}

/**
 * Reads what the repository says about its audio clips.
 * @param availableBytes memory for samples; all that is left by default
 * @throws RunError `not_ready` for a feature extractor whose rules are not known, and without ffmpeg
 */
export async function openAudioInput(
  request: LoadRequest,
  availableBytes = () => availableMemory(request.memory),
): Promise<AudioInput> {
  await requireFfmpeg();
  const settings = await readExtractorConfig(request.dir);
  const extractor = createFeatureExtractor(settings, readersIn(request).extractor);
  const { maxSeconds, threads } = request;
  const reader = createAudioReader({ rate: extractor.rate, maxSeconds, threads, availableBytes });
  return {
    ...{ extractor, settings },
    samples: reader.read,
    async read(bytes, signal) {
      return extractor.extract(await reader.read(bytes, signal), signal);
    },
  };
}

/** What the repository says of its feature extractor, in a file of its own or in that of the processor. */
export async function readExtractorConfig(dir: string): Promise<Json> {
  const own = await readOptionalJson(dir, 'preprocessor_config.json');
  if (own) return checkedProcessing('preprocessor_config.json', own);
  const processor = await readOptionalJson(dir, 'processor_config.json');
  const inside = processor?.['feature_extractor'] ?? processor?.['audio_processor'];
  return checkedProcessing('processor_config.json', inside as Json | undefined) ?? {};
}
