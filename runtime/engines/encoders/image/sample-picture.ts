import type { Picture } from '../../../media/picture.js';

/** A picture of usual proportions. */
const [WIDTH, HEIGHT] = [320, 240];

/** A picture to try graphs with; another one for another step. */
export function samplePicture(step: number): Picture {
  const data = Uint8Array.from({ length: WIDTH * HEIGHT * 3 }, (_, i) => (i * step + i / WIDTH) & 255);
  return { data, width: WIDTH, height: HEIGHT, channels: 3 };
}
