import type { ImageSize } from '../../core/network.js';
import { RunError } from '../../core/errors.js';
import { largestWithin } from '../../core/run-memory.js';

const WHOLE = 100;

/**
 * @param size of what the network reads
 * @param bytesOf bytes of the run of an image of such a size
 * @param room bytes that a run may take
 * @throws RunError 413 for an image whose run takes more
 */
export function requireImageRoom<T extends ImageSize>(
  size: T,
  bytesOf: (size: T) => number,
  room: number,
): void {
  if (bytesOf(size) <= room) return;
  const { height, width } = size;
  const share = (percent: number): T => ({
    ...size,
    ...{ height: Math.ceil((height * percent) / WHOLE), width: Math.ceil((width * percent) / WHOLE) },
  });
  const percent = largestWithin(room, WHOLE, (count) => bytesOf(share(count)));
  const most =
    percent > 0 ? `one of ${share(percent).width} x ${share(percent).height}` : 'a much smaller one';
  throw new RunError(
    'payload_too_large',
    `the model reads this image as ${width} x ${height} pixels, and there is memory for ${most}: send a smaller image, or give the server more memory`,
  );
}
