import sharp from 'sharp';
import { encodePng } from '../../../runtime/media/encode-png.js';

test.each([1, 3])('an image of %i channels keeps its samples', async (channels) => {
  const data = Uint8Array.from({ length: 5 * 3 * channels }, (_, i) => (i * 37) % 256);
  const png = await encodePng({ data, width: 5, height: 3, channels });
  const found = await sharp(png).metadata();
  expect(found).toMatchObject({ format: 'png', width: 5, height: 3, channels, depth: 'uchar' });
  const samples = sharp(png).toColourspace(channels === 1 ? 'b-w' : 'srgb');
  expect(new Uint8Array(await samples.raw().toBuffer())).toEqual(data);
});
