import { RunError } from '../../core/errors.js';
import { largestWithin } from '../../core/run-memory.js';

/** An audio clip that is no longer than this has room wherever the model has. */
export const USUAL_SECONDS = 30;

/**
 * @param bytesOf bytes of the run of an audio clip of so many seconds
 * @param room bytes that a run may take
 * @throws RunError 413 for an audio clip whose run takes more
 */
export function requireRunRoom(seconds: number, bytesOf: (seconds: number) => number, room: number): void {
  if (bytesOf(seconds) <= room) return;
  const whole = Math.ceil(seconds);
  throw new RunError(
    'payload_too_large',
    `the audio has ${whole} s, and there is memory for ${largestWithin(room, whole, bytesOf)}: send a part of it, or give the server more memory`,
  );
}
