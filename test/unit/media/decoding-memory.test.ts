import sharp, { type Sharp } from 'sharp';
import { decodingBytes } from '../../../runtime/media/decoding-memory.js';
import { readHeader } from '../../../runtime/media/decode-image.js';

const image = () => sharp({ create: { width: 400, height: 300, channels: 3, background: 'teal' } });
const perPixel = async (image: Sharp) => {
  const header = await readHeader(await image.toBuffer(), 1e9);
  return (decodingBytes(header) - decodingBytes({ ...header, width: 0 })) / 120_000;
};

test.each([
  ['a JPEG', image().jpeg(), 3.6],
  ['a JPEG that has to be turned', image().withMetadata({ orientation: 6 }).jpeg(), 6.6],
  ['a mirrored one', image().withMetadata({ orientation: 2 }).jpeg(), 3.6],
  ['a progressive JPEG', image().jpeg({ progressive: true }), 6.6],
  ['a progressive JPEG of full colour', image().jpeg({ progressive: true, chromaSubsampling: '4:4:4' }), 9.6],
  ['a PNG', image().png(), 3.6],
  ['an interlaced PNG', image().png({ progressive: true }), 6.6],
  ['an interlaced PNG of 16 bits', image().toColourspace('rgb16').png({ progressive: true }), 9.6],
  ['a grey PNG of 16 bits', image().toColourspace('grey16').png(), 6.2],
  ['a CMYK JPEG', image().toColourspace('cmyk').jpeg(), 7.2],
  ['a WebP', image().webp(), 10.8],
  ['a GIF', image().gif(), 7.8],
  ['an AVIF', image().avif({ effort: 0 }), 20.6],
])('%s takes what was measured', async (_, image, expected) => {
  expect(await perPixel(image)).toBeCloseTo(expected, 1);
});
