import sharp from 'sharp';
import { bytesOf, audioDifference, videoDifference } from './media-difference.js';

export interface Compare {
  kind: 'json' | 'image' | 'audio' | 'video';
  atol?: number;
  rtol?: number;
  /** Mean absolute difference of the samples of images, in levels of 8 bits. */
  mean_abs?: number;
  /** Least ratio of signal to noise of audio clips. */
  snr_db?: number;
}

/** An expected image, audio or video. */
export class ExpectedMedia {
  constructor(readonly bytes: Buffer) {}
}

/**
 * Where an answer differs from the expected one: numbers within the tolerance, images (data URLs or bare Base64) within
 * theirs, all else equal, extra keys allowed.
 */
export async function difference(
  actual: unknown,
  expected: unknown,
  compare: Compare,
  path = '$',
): Promise<string | null> {
  if (expected instanceof ExpectedMedia) return mediaDifference(actual, expected, compare, path);
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual) || actual.length !== expected.length) {
      return `${path}: ${JSON.stringify(actual)?.slice(0, 300)}, expected ${expected.length} items`;
    }
    for (const [i, item] of expected.entries()) {
      const found = isPlain(item)
        ? plainDifference(actual[i], item, compare, `${path}[${i}]`)
        : await difference(actual[i], item, compare, `${path}[${i}]`);
      if (found !== null) return found;
    }
    return null;
  }
  if (!isPlain(expected)) {
    const given = (actual ?? {}) as Record<string, unknown>;
    for (const [key, item] of Object.entries(expected as object)) {
      const found = await difference(given[key], item, compare, `${path}.${key}`);
      if (found !== null) return found;
    }
    return null;
  }
  return plainDifference(actual, expected, compare, path);
}

const isPlain = (value: unknown): boolean => typeof value !== 'object' || value === null;

function plainDifference(actual: unknown, expected: unknown, compare: Compare, path: string): string | null {
  if (typeof expected === 'number' && typeof actual === 'number') {
    const allowed = (compare.atol ?? 0) + (compare.rtol ?? 0) * Math.abs(expected);
    const near = Math.abs(actual - expected) <= allowed;
    return near ? null : `${path}: ${actual}, expected ${expected} ± ${allowed}`;
  }
  if (actual === expected) return null;
  return `${path}: ${JSON.stringify(actual)?.slice(0, 300)}, expected ${JSON.stringify(expected)}`;
}

async function mediaDifference(
  actual: unknown,
  expected: ExpectedMedia,
  compare: Compare,
  path: string,
): Promise<string | null> {
  if (typeof actual !== 'string')
    return `${path}: ${JSON.stringify(actual)?.slice(0, 300)}, expected a medium`;
  const bytes = bytesOf(actual);
  if (compare.kind === 'audio')
    return audioDifference(bytes, expected.bytes, compare.snr_db ?? Infinity, path);
  if (compare.kind === 'video') return videoDifference(bytes, expected.bytes, compare.mean_abs ?? 0, path);
  return imageDifference(bytes, expected, compare, path);
}

async function imageDifference(
  actual: Buffer,
  expected: ExpectedMedia,
  { mean_abs = 0 }: Compare,
  path: string,
): Promise<string | null> {
  const [found, wanted] = await Promise.all([actual, expected.bytes].map(pixelsOf));
  if (found!.size !== wanted!.size) return `${path}: an image of ${found!.size}, expected ${wanted!.size}`;
  const sum = wanted!.data.reduce((total, level, i) => total + Math.abs(level - found!.data[i]!), 0);
  const mean = sum / wanted!.data.length;
  return mean <= mean_abs ? null : `${path}: differs by ${mean} levels, allowed ${mean_abs}`;
}

async function pixelsOf(bytes: Buffer): Promise<{ data: Buffer; size: string }> {
  const { data, info } = await sharp(bytes)
    .removeAlpha()
    .toColourspace('srgb')
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { data, size: `${info.width}x${info.height}` };
}
