import type { Image } from '../../../media/decoded-image.js';

/** An image of usual proportions. */
const [WIDTH, HEIGHT] = [320, 240];

/** An image to try graphs with; another one for another step. */
export function sampleImage(step: number): Image {
  const data = Uint8Array.from({ length: WIDTH * HEIGHT * 3 }, (_, i) => (i * step + i / WIDTH) & 255);
  return { data, width: WIDTH, height: HEIGHT, channels: 3 };
}
