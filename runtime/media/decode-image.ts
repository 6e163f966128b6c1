import sharp, { type Sharp } from 'sharp';
import { RunError } from '../core/errors.js';
import { decodeBmp, isBmp, readBmpHeader } from './bmp.js';
import type { ImageHeader } from './decoding-memory.js';
import { opaqueGif } from './gif.js';
import type { Image } from './decoded-image.js';

// One image at a time on this thread, and no cache of decoded images: the model is what the memory is for.
sharp.cache(false);
sharp.concurrency(1);
// SVG and PDF are documents with a language of their own, not images.
sharp.block({ operation: ['VipsForeignLoadSvg', 'VipsForeignLoadPdf'] });

/**
 * Decodes an image as Python's load_image does: EXIF orientation applied, three channels, alpha dropped (not blended),
 * colours as stored (no ICC conversion).
 * @throws RunError 413 more than `maxPixels`, 422 broken or empty image
 */
export async function decodeImage(bytes: Uint8Array, maxPixels: number): Promise<Image> {
  return decodePixels(bytes, await readHeader(bytes, maxPixels));
}

/** @throws RunError 413 more than `maxPixels`, 422 broken or empty image */
export async function readHeader(bytes: Uint8Array, maxPixels: number): Promise<ImageHeader> {
  const header = await headerOf(bytes);
  const { width, height } = header;
  if (width * height > maxPixels) {
    throw new RunError(
      'payload_too_large',
      `the image has ${width} x ${height} pixels, more than the limit of ${maxPixels} (MAX_PIXELS)`,
    );
  }
  return header;
}

/** Edges of an image as it is decoded: upright. @throws RunError as `readHeader` */
export async function readEdges(
  bytes: Uint8Array,
  maxPixels: number,
): Promise<Pick<Image, 'width' | 'height'>> {
  const { width, height, sideways } = await readHeader(bytes, maxPixels);
  return sideways ? { width: height, height: width } : { width, height };
}

/**
 * The pixels of an image whose header has been read.
 * @throws RunError 422 broken image
 */
export async function decodePixels(
  bytes: Uint8Array,
  { kind, format, width, height }: ImageHeader,
): Promise<Image> {
  if (kind === 'bmp') return decodeBmp(bytes, readBmpHeader(bytes));
  try {
    const given = format === 'gif' ? opaqueGif(bytes) : bytes;
    return await DECODERS[kind](sharp(given, { ...OPTIONS, limitInputPixels: width * height }).autoOrient());
  } catch (cause) {
    throw new RunError('unprocessable', 'the image is broken or cut short', { cause });
  }
}

const OPTIONS = { failOn: 'error', animated: false, ignoreIcc: true } as const;

/** The orientations that need all rows before the first one can be given. */
const FIRST_TURNED = 3;
const FIRST_SIDEWAYS = 5;
const WIDE_SAMPLES = /^(?:u?short)$/;

const BMP = {
  format: 'bmp',
  kind: 'bmp',
  channels: 3,
  depth: 1,
  progressive: false,
  subsampling: undefined,
  turned: false,
  sideways: false,
} as const;

async function headerOf(bytes: Uint8Array): Promise<ImageHeader> {
  // sharp is built without a reader of BMP.
  if (isBmp(bytes)) return { ...readBmpHeader(bytes), ...BMP };
  try {
    // The limit is ours to check, with a message that names it.
    const found = await sharp(bytes, { ...OPTIONS, limitInputPixels: false }).metadata();
    const { width, height, format, space, channels, orientation = 1 } = found;
    return {
      ...{ width, height, format, channels },
      depth: found.depth === 'uchar' ? 1 : WIDE_SAMPLES.test(found.depth) ? 2 : 8,
      progressive: found.isProgressive,
      subsampling: found.chromaSubsampling,
      turned: orientation >= FIRST_TURNED,
      sideways: orientation >= FIRST_SIDEWAYS,
      kind: space === 'grey16' && channels === 1 ? 'grey16' : space === 'cmyk' ? 'cmyk' : 'other',
    };
  } catch (cause) {
    throw new RunError('unprocessable', 'the image cannot be read', { cause });
  }
}

const DECODERS: Record<Exclude<ImageHeader['kind'], 'bmp'>, (image: Sharp) => Promise<Image>> = {
  async other(image) {
    const { data, info } = await image
      .toColourspace('srgb')
      .removeAlpha()
      .raw({ depth: 'uchar' })
      .toBuffer({ resolveWithObject: true });
    return asRgb({ data, width: info.width, height: info.height, channels: info.channels });
  },
  /** Pillow cuts 16-bit grey levels off at 255 instead of scaling them. */
  async grey16(image) {
    const { data, info } = await image
      .toColourspace('grey16')
      .raw({ depth: 'ushort' })
      .toBuffer({ resolveWithObject: true });
    const levels = Uint8Array.from({ length: info.width * info.height }, (_, i) =>
      Math.min(255, data.readUInt16LE(i * 2)),
    );
    return asRgb({ data: levels, width: info.width, height: info.height, channels: 1 });
  },
  /** Pillow multiplies the inks, without a colour profile. */
  async cmyk(image) {
    const { data, info } = await image
      .pipelineColourspace('cmyk')
      .toColourspace('cmyk')
      .raw({ depth: 'uchar' })
      .toBuffer({ resolveWithObject: true });
    const rgb = new Uint8Array(info.width * info.height * 3);
    for (let from = 0, to = 0; to < rgb.length; from += info.channels) {
      const light = 255 - data[from + 3]!;
      for (let c = 0; c < 3; c++) rgb[to++] = light - scaled(data[from + c]!, light);
    }
    return { data: rgb, width: info.width, height: info.height, channels: 3 };
  },
};

/** a * b / 255, rounded, in Pillow's integer arithmetic. */
function scaled(a: number, b: number): number {
  const product = a * b + 128;
  return ((product >> 8) + product) >> 8;
}

/** One grey channel three times; anything beyond three is cut. */
function asRgb(image: Image): Image {
  if (image.channels === 3) return image;
  const pixels = image.width * image.height;
  const data = new Uint8Array(pixels * 3);
  for (let i = 0; i < pixels; i++) {
    for (let c = 0; c < 3; c++)
      data[i * 3 + c] = image.data[i * image.channels + (image.channels < 3 ? 0 : c)]!;
  }
  return { ...image, data, channels: 3 };
}
