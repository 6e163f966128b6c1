import { createByteCache } from '../../../../core/byte-cache.js';
import type { LoadRequest } from '../../../../core/load-request.js';
import { requireFfmpeg } from '../../../../media/ffmpeg.js';
import { createAudioReader } from '../../../../media/audio-reader.js';
import { availableMemory } from '../../../sessions/available-memory.js';
import type { TensorLike } from '../../../sessions/tensors.js';
import { joined } from './encoder-runs.js';
import type { AudioFamily } from './family.js';
import { keyOf } from './feature-cache.js';
import type { MediumEncoder } from './medium-encoder.js';
import type { EncoderParts } from './image-encoder.js';

/** Bytes of samples that wait for their run: about four minutes. Longer audio clips are decoded again. */
const WAITING_BYTES = 16 * 2 ** 20;

/**
 * Audio clips. How many features one has is known only when it is decoded.
 * @throws RunError not_ready without ffmpeg
 */
export async function openAudioEncoder(
  request: LoadRequest,
  family: AudioFamily,
  { run, kept }: EncoderParts,
): Promise<MediumEncoder> {
  await requireFfmpeg();
  const { maxSeconds, threads } = request;
  const availableBytes = () => availableMemory(request.memory);
  const reader = createAudioReader({ rate: family.rate, maxSeconds, threads, availableBytes });
  const waiting = createByteCache<Float32Array>(WAITING_BYTES, (_, samples) => samples.byteLength);
  async function samplesOf(key: string, bytes: Uint8Array, signal: AbortSignal): Promise<Float32Array> {
    const known = waiting.get(key);
    if (known) return known;
    const samples = await reader.read(bytes, signal);
    waiting.set(key, samples);
    return samples;
  }
  return {
    family,
    async measure(bytes, { signal }) {
      const key = await keyOf(bytes);
      return kept.get(key) ?? family.layout((await samplesOf(key, bytes, signal)).length);
    },
    async encode(bytes, { signal }) {
      const key = await keyOf(bytes);
      const known = kept.get(key);
      if (known) return known;
      const samples = await samplesOf(key, bytes, signal);
      const layout = family.layout(samples.length);
      const parts: TensorLike[] = [];
      for (const one of await family.prepare(samples, signal)) parts.push(await run(one, signal));
      return kept.add(key, layout, joined(parts));
    },
  };
}
