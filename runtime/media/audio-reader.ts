import { createByteSemaphore } from '../core/byte-semaphore.js';
import { decodeAudio } from './decode-audio.js';

/** Decodes audio clips, as many side by side as there are cores. */
export interface AudioReader {
  /**
   * @returns samples of one channel, -1 to 1
   * @throws RunError 413 too long, 422 no audio clip that can be decoded; the signal's reason
   */
  read(bytes: Uint8Array, signal: AbortSignal): Promise<Float32Array>;
}

export interface AudioReaderOptions {
  /** Samples per second. */
  rate: number;
  maxSeconds: number;
  /** Audio clips that are decoded side by side. */
  threads: number;
  /** Bytes of memory that are left, asked before each audio clip. */
  availableBytes(): number;
}

/** An audio clip is in memory in pieces and whole, and what the model reads of it once more. */
const COPIES = 3;

export function createAudioReader({
  rate,
  maxSeconds,
  threads,
  availableBytes,
}: AudioReaderOptions): AudioReader {
  const decoders = createByteSemaphore(threads);
  return {
    async read(bytes, signal) {
      const stop = await decoders.acquire(1, signal);
      try {
        const limits = { maxSeconds, maxBytes: availableBytes() / threads / COPIES };
        return await decodeAudio(bytes, { rate, limits, signal });
      } finally {
        stop();
      }
    },
  };
}
