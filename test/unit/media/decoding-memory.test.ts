import sharp, { type Sharp } from 'sharp';
import { decodingBytes } from '../../../runtime/media/decoding-memory.js';
import { readHeader } from '../../../runtime/media/image.js';

const picture = () => sharp({ create: { width: 400, height: 300, channels: 3, background: 'teal' } });
const perPixel = async (image: Sharp) => {
  const header = await readHeader(await image.toBuffer(), 1e9);
  return (decodingBytes(header) - decodingBytes({ ...header, width: 0 })) / 120_000;
};

test.each([
  ['a JPEG', picture().jpeg(), 3.6],
  ['a JPEG that has to be turned', picture().withMetadata({ orientation: 6 }).jpeg(), 6.6],
  ['a mirrored one', picture().withMetadata({ orientation: 2 }).jpeg(), 3.6],
  ['a progressive JPEG', picture().jpeg({ progressive: true }), 6.6],
  [
    'a progressive JPEG of full colour',
    picture().jpeg({ progressive: true, chromaSubsampling: '4:4:4' }),
    9.6,
  ],
  ['a PNG', picture().png(), 3.6],
  ['an interlaced PNG', picture().png({ progressive: true }), 6.6],
  ['an interlaced PNG of 16 bits', picture().toColourspace('rgb16').png({ progressive: true }), 9.6],
  ['a grey PNG of 16 bits', picture().toColourspace('grey16').png(), 6.2],
  ['a CMYK JPEG', picture().toColourspace('cmyk').jpeg(), 7.2],
  ['a WebP', picture().webp(), 10.8],
  ['a GIF', picture().gif(), 7.8],
  ['an AVIF', picture().avif({ effort: 0 }), 20.6],
])('%s takes what was measured', async (_, image, expected) => {
  expect(await perPixel(image)).toBeCloseTo(expected, 1);
});
