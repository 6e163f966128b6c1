import { createByteSemaphore } from '../core/byte-semaphore.js';
import { decodeSound } from './sound.js';

/** Decodes sounds, as many side by side as there are cores. */
export interface SoundReader {
  /**
   * @returns samples of one channel, -1 to 1
   * @throws RunError 413 too long, 422 no sound that can be decoded; the signal's reason
   */
  read(bytes: Uint8Array, signal: AbortSignal): Promise<Float32Array>;
}

export interface SoundReaderOptions {
  /** Samples per second. */
  rate: number;
  maxSeconds: number;
  /** Sounds that are decoded side by side. */
  threads: number;
  /** Bytes of memory that are left, asked before each sound. */
  availableBytes(): number;
}

/** A sound is in memory in pieces and whole, and what the model reads of it once more. */
const COPIES = 3;

export function createSoundReader({
  rate,
  maxSeconds,
  threads,
  availableBytes,
}: SoundReaderOptions): SoundReader {
  const decoders = createByteSemaphore(threads);
  return {
    async read(bytes, signal) {
      const stop = await decoders.acquire(1, signal);
      try {
        const limits = { maxSeconds, maxBytes: availableBytes() / threads / COPIES };
        return await decodeSound(bytes, { rate, limits, signal });
      } finally {
        stop();
      }
    },
  };
}
