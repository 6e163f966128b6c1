import { RunError } from '../../../core/errors.js';
import { finish, type Steps } from '../../../core/steps.js';
import type { Image } from '../../../media/decoded-image.js';
import type { Edges } from './sizes.js';
import { type Arithmetic, filterOf, PILLOW, tapsOf, type Taps } from './resample-taps.js';

/**
 * Resizing with Pillow's arithmetic, bit for bit (version 12, its src/libImaging/Resample.c): separable filters with antialias,
 * 8-bit rounding after each pass. Python's image processors resize with Pillow, and a classifier's scores move by
 * more than rounding when another library resizes.
 */

/** @param resample PIL.Image.Resampling number (0 nearest, 1 Lanczos, 2 bilinear, 3 bicubic, 4 box, 5 Hamming) */
export function resizeLikePillow(image: Image, width: number, height: number, resample: number): Image {
  return finish(resizeSteps(image, width, height, resample));
}

/** The same in steps. */
export function* resizeSteps(image: Image, width: number, height: number, resample: number): Steps<Image> {
  return yield* resizeBy(PILLOW, image, { width, height }, resample);
}

/** The same with another rounding. */
export function* resizeBy(
  arithmetic: Arithmetic,
  image: Image,
  { width, height }: Edges,
  resample: number,
): Steps<Image> {
  if (width === image.width && height === image.height) return image;
  if (resample === 0) {
    refuseLarge(width, Math.max(height, image.height));
    return pickNearest(image, width, height);
  }
  const filter = filterOf(resample);
  return yield* resizeByTaps(image, { width, height }, (source, target) =>
    tapsOf({ source, target }, filter, arithmetic),
  );
}

/** Along rows, then along columns. @param taps of an edge */
export function* resizeByTaps(
  image: Image,
  { width, height }: Edges,
  taps: (source: number, target: number) => Taps,
): Steps<Image> {
  refuseLarge(width, Math.max(height, image.height));
  const wide = width === image.width ? image : yield* alongRows(image, taps(image.width, width));
  return height === wide.height ? wide : yield* alongColumns(wide, taps(wide.height, height));
}

/** Pixels, of what is made of an image row by row and then column by column. */
const MOST_PIXELS = 2 ** 24;

/** Images that are very long and thin grow without end where their short edge is brought to a size. */
function refuseLarge(width: number, height: number): void {
  if (width * height <= MOST_PIXELS) return;
  throw new RunError(
    'unprocessable',
    `the image is too long and thin: this model would look at ${width} x ${height} pixels of it`,
  );
}

function clip(value: number): number {
  return value < 0 ? 0 : value > 255 ? 255 : value;
}

/** In whole numbers of 32 bits, as Pillow has it; written out for colours, since this is most of what a request costs. */
export function* alongRows(image: Image, taps: Taps): Steps<Image> {
  const { height, channels } = image;
  const target = taps.first.length;
  const data = new Uint8Array(target * height * channels);
  const along = channels === 3 ? rowOfColours : rowOfSamples;
  for (let y = 0; y < height; y++) {
    along(image, y, taps, data);
    yield;
  }
  return { data, width: target, height, channels };
}

function rowOfColours(
  { data, width }: Image,
  y: number,
  { first, count, weights, size, precision }: Taps,
  out: Uint8Array,
) {
  const half = 1 << (precision - 1);
  const target = first.length;
  for (let x = 0, o = y * target * 3; x < target; x++, o += 3) {
    let red = half;
    let green = half;
    let blue = half;
    const end = x * size + count[x]!;
    for (let k = x * size, p = (y * width + first[x]!) * 3; k < end; k++, p += 3) {
      const weight = weights[k]!;
      red = (red + Math.imul(data[p]!, weight)) | 0;
      green = (green + Math.imul(data[p + 1]!, weight)) | 0;
      blue = (blue + Math.imul(data[p + 2]!, weight)) | 0;
    }
    out[o] = clip(red >> precision);
    out[o + 1] = clip(green >> precision);
    out[o + 2] = clip(blue >> precision);
  }
}

function rowOfSamples({ data, width, channels }: Image, y: number, taps: Taps, out: Uint8Array): void {
  const { first, count, weights, size, precision } = taps;
  const target = first.length;
  for (let x = 0, o = y * target * channels; x < target; x++) {
    const from = (y * width + first[x]!) * channels;
    for (let c = 0; c < channels; c++) {
      let sum = 1 << (precision - 1);
      for (let k = 0, p = from + c; k < count[x]!; k++, p += channels)
        sum = (sum + Math.imul(data[p]!, weights[x * size + k]!)) | 0;
      out[o++] = clip(sum >> precision);
    }
  }
}

/** Three samples beside each other at a time, whatever they are; what is left over one by one. */
export function* alongColumns({ data, width, channels }: Image, taps: Taps): Steps<Image> {
  const { first, count, weights, size, precision } = taps;
  const target = first.length;
  const half = 1 << (precision - 1);
  const row = width * channels;
  const out = new Uint8Array(row * target);
  const whole = row - (row % 3);
  for (let y = 0; y < target; y++) {
    const [begin, end] = [y * size, y * size + count[y]!];
    for (let i = 0, o = y * row; i < whole; i += 3, o += 3) {
      let red = half;
      let green = half;
      let blue = half;
      for (let k = begin, p = first[y]! * row + i; k < end; k++, p += row) {
        const weight = weights[k]!;
        red = (red + Math.imul(data[p]!, weight)) | 0;
        green = (green + Math.imul(data[p + 1]!, weight)) | 0;
        blue = (blue + Math.imul(data[p + 2]!, weight)) | 0;
      }
      out[o] = clip(red >> precision);
      out[o + 1] = clip(green >> precision);
      out[o + 2] = clip(blue >> precision);
    }
    for (let i = whole; i < row; i++) {
      let sum = half;
      for (let k = begin, p = first[y]! * row + i; k < end; k++, p += row)
        sum = (sum + Math.imul(data[p]!, weights[k]!)) | 0;
      out[y * row + i] = clip(sum >> precision);
    }
    yield;
  }
  return { data: out, width, height: target, channels };
}

/** Positions grow by steps that are added up, with the rounding errors that this has. */
function positions(source: number, target: number): Int32Array {
  const step = source / target;
  const found = new Int32Array(target);
  for (let i = 0, at = step * 0.5; i < target; i++, at += step)
    found[i] = Math.min(source - 1, Math.trunc(at));
  return found;
}

function pickNearest(image: Image, width: number, height: number): Image {
  const { data, channels } = image;
  const out = new Uint8Array(width * height * channels);
  const [rows, columns] = [positions(image.height, height), positions(image.width, width)];
  for (let y = 0, o = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const from = (rows[y]! * image.width + columns[x]!) * channels;
      for (let c = 0; c < channels; c++) out[o++] = data[from + c]!;
    }
  }
  return { data: out, width, height, channels };
}
