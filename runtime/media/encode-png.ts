import sharp from 'sharp';
import type { Image } from './decoded-image.js';

/** An image as PNG, 8 bits a sample: grey with one channel, else RGB. Encoding runs on a thread of its own. */
export async function encodePng({ data, width, height, channels }: Image): Promise<Buffer> {
  const raw = { width, height, channels: channels as 1 | 3 };
  const image = sharp(data, { raw, limitInputPixels: false });
  return (channels === 1 ? image.toColourspace('b-w') : image).png({ adaptiveFiltering: false }).toBuffer();
}
