import sharp from 'sharp';
import { RunError } from '../core/errors.js';
import type { Picture } from './pillow-resize.js';

// One picture at a time on this thread, and no cache of decoded pictures: the model is what the memory is for.
sharp.cache(false);
sharp.concurrency(1);
// SVG and PDF are documents with a language of their own, not pictures.
sharp.block({ operation: ['VipsForeignLoadSvg', 'VipsForeignLoadPdf'] });

/**
 * Decodes a picture as Python's load_image does: EXIF orientation applied, three channels, alpha dropped (not blended),
 * colours as stored (no ICC conversion).
 * @throws RunError 413 more than `maxPixels`, 422 broken or empty picture
 */
export async function decodeImage(bytes: Uint8Array, maxPixels: number): Promise<Picture> {
  const { width, height } = await headerOf(bytes);
  if (width * height > maxPixels) {
    throw new RunError(
      'payload_too_large',
      `the picture has ${width} x ${height} pixels, more than the limit of ${maxPixels} (MAX_PIXELS)`,
    );
  }
  try {
    const { data, info } = await sharp(bytes, { ...OPTIONS, limitInputPixels: maxPixels })
      .autoOrient()
      .toColourspace('srgb')
      .removeAlpha()
      .raw({ depth: 'uchar' })
      .toBuffer({ resolveWithObject: true });
    return asRgb({ data, width: info.width, height: info.height, channels: info.channels });
  } catch (cause) {
    throw new RunError('unprocessable', 'the picture is broken or cut short', { cause });
  }
}

const OPTIONS = { failOn: 'error', animated: false, ignoreIcc: true } as const;

async function headerOf(bytes: Uint8Array): Promise<{ width: number; height: number }> {
  try {
    // The limit is ours to check, with a message that names it.
    const { width, height } = await sharp(bytes, { ...OPTIONS, limitInputPixels: false }).metadata();
    return { width, height };
  } catch (cause) {
    throw new RunError('unprocessable', 'the picture cannot be read', { cause });
  }
}

/** One grey channel three times; anything beyond three is cut. */
function asRgb(picture: Picture): Picture {
  if (picture.channels === 3) return picture;
  const pixels = picture.width * picture.height;
  const data = new Uint8Array(pixels * 3);
  for (let i = 0; i < pixels; i++) {
    for (let c = 0; c < 3; c++)
      data[i * 3 + c] = picture.data[i * picture.channels + (picture.channels < 3 ? 0 : c)]!;
  }
  return { ...picture, data, channels: 3 };
}
