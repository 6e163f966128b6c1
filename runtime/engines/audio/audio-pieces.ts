import { roundHalfEven } from '../../core/round-half-even.js';
import { RunError } from '../../core/errors.js';
import type { SpeechOptions } from '../../core/handles/index.js';

/** A piece of an audio clip that shares some of it with its neighbours. Numbers of samples. */
export interface AudioPiece {
  samples: Float32Array;
  left: number;
  right: number;
}

/** What pieces share where the request does not say: this part of a piece at each end. */
const SHARE = 6;

/**
 * Cuts an audio clip as the pipeline does (chunk_iter).
 * @param align lengths are multiples of this: samples that give one score
 * @returns undefined where the request does not ask for pieces
 * @throws RunError 422 for pieces that share more than they have
 */
export function audioPieces(
  samples: Float32Array,
  { chunk_length_s, stride_length_s }: SpeechOptions,
  { rate, align }: { rate: number; align: number },
): AudioPiece[] | undefined {
  if (!chunk_length_s) return undefined;
  const stride = stride_length_s ?? chunk_length_s / SHARE;
  const [leftSeconds, rightSeconds] = typeof stride === 'number' ? [stride, stride] : stride;
  const aligned = (seconds: number) => roundHalfEven((seconds * rate) / align) * align;
  const [length, left, right] = [aligned(chunk_length_s), aligned(leftSeconds), aligned(rightSeconds)];
  const step = length - left - right;
  if (step <= 0) {
    throw new RunError('unprocessable', 'params.stride_length_s: pieces must be longer than what they share');
  }
  const pieces: AudioPiece[] = [];
  for (let start = 0; start < samples.length; start += step) {
    const piece = samples.subarray(start, start + length);
    const isLast = start + length >= samples.length;
    const shared = { left: start === 0 ? 0 : left, right: isLast ? 0 : right };
    if (piece.length > shared.left) pieces.push({ samples: piece, ...shared });
    if (isLast) break;
  }
  return pieces;
}
