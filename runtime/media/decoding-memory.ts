/** What the header of an image says, as far as it decides how much memory decoding takes. */
export interface ImageHeader {
  width: number;
  height: number;
  /** jpeg, png, webp, gif, heif, tiff, bmp. */
  format: string;
  channels: number;
  /** Bytes of a sample. */
  depth: number;
  /** Rows come in several passes. */
  progressive: boolean;
  /** `4:2:0` and the like. */
  subsampling: string | undefined;
  /** EXIF orientation that turns rows into columns or upside down. */
  turned: boolean;
  /** The orientation exchanges width and height. */
  sideways: boolean;
  /** What the samples are, where that decides how they become colours. */
  kind: 'grey16' | 'cmyk' | 'bmp' | 'other';
}

/** Bytes of each pixel once it is decoded: RGB, beside what it is made of where that is more than a strip. */
const DECODED = { other: 3.6, bmp: 3.6, grey16: 6.2, cmyk: 7.2 } as const;
/** Formats whose decoders hold the whole image. */
const WHOLE: Record<string, number> = { webp: 7.2, gif: 4.2, heif: 17 };
const TURNED = 3;
/** Strips, tables and what is resized. */
export const OTHER_BYTES = 16 * 2 ** 20;

/**
 * Most bytes that an image takes until it is small, measured for each format (docs/measurements.md). Decoders that need
 * the whole image hold it before the turned copy is made.
 */
export function decodingBytes(header: ImageHeader): number {
  const { width, height, format, kind, turned } = header;
  const held = Math.max(WHOLE[format] ?? 0, passes(header), turned ? TURNED : 0);
  return Math.ceil(width * height * (DECODED[kind] + held)) + OTHER_BYTES;
}

/** JPEG keeps 16-bit coefficients until the last pass, PNG its samples. */
function passes({ progressive, format, channels, depth, subsampling }: ImageHeader): number {
  if (!progressive) return 0;
  if (format === 'png') return channels * depth;
  return format === 'jpeg' ? (subsampling === '4:2:0' ? 1 : 2) * channels : 0;
}
