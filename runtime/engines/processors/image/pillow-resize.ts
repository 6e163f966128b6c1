import { RunError } from '../../../core/errors.js';
import { finish, type Steps } from '../../../core/steps.js';
import type { Picture } from '../../../media/picture.js';

/**
 * Resizing with Pillow's arithmetic, bit for bit (version 12, its src/libImaging/Resample.c): separable filters with antialias,
 * 8-bit rounding after each pass. Python's image processors resize with Pillow, and a classifier's scores move by
 * more than rounding when another library resizes.
 */

interface Filter {
  support: number;
  weight: (x: number) => number;
}

const sinc = (x: number): number => (x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x));

/** PIL.Image.Resampling by number; 0 (nearest) picks pixels instead of filtering. */
const FILTERS: Record<number, Filter> = {
  1: { support: 3, weight: (x) => (x >= -3 && x < 3 ? sinc(x) * sinc(x / 3) : 0) },
  2: { support: 1, weight: (x) => Math.max(0, 1 - Math.abs(x)) },
  3: { support: 2, weight: bicubic },
  4: { support: 0.5, weight: (x) => (x > -0.5 && x <= 0.5 ? 1 : 0) },
  5: {
    support: 1,
    weight: (x) => {
      const a = Math.abs(x);
      if (a === 0) return 1;
      return a >= 1 ? 0 : sinc(a) * (0.54 + 0.46 * Math.cos(Math.PI * a));
    },
  },
};

/** Keys' cubic with a = -0.5. */
function bicubic(value: number): number {
  const x = Math.abs(value);
  if (x < 1) return (1.5 * x - 2.5) * x * x + 1;
  return x < 2 ? ((-0.5 * x + 2.5) * x - 4) * x + 2 : 0;
}

/** @param resample PIL.Image.Resampling number (0 nearest, 1 Lanczos, 2 bilinear, 3 bicubic, 4 box, 5 Hamming) */
export function resizeLikePillow(picture: Picture, width: number, height: number, resample: number): Picture {
  return finish(resizeSteps(picture, width, height, resample));
}

/** The same in steps. */
export function* resizeSteps(
  picture: Picture,
  width: number,
  height: number,
  resample: number,
): Steps<Picture> {
  if (width === picture.width && height === picture.height) return picture;
  refuseLarge(width, Math.max(height, picture.height));
  if (resample === 0) return pickNearest(picture, width, height);
  const filter = FILTERS[resample];
  if (!filter) throw new RangeError(`unknown resampling filter ${resample}`);
  const wide = width === picture.width ? picture : yield* alongRows(picture, width, filter);
  return height === wide.height ? wide : yield* alongColumns(wide, height, filter);
}

/** Pixels, of what is made of a picture row by row and then column by column. */
const MOST_PIXELS = 2 ** 24;

/** Pictures that are very long and thin grow without end where their short edge is brought to a size. */
function refuseLarge(width: number, height: number): void {
  if (width * height <= MOST_PIXELS) return;
  throw new RunError(
    'unprocessable',
    `the picture is too long and thin: this model would look at ${width} x ${height} pixels of it`,
  );
}

interface Taps {
  /** First source sample of each target sample. */
  first: Int32Array;
  /** Number of source samples of each target sample. */
  count: Int32Array;
  /** Fixed-point weights, `size` per target sample. */
  weights: Int32Array;
  size: number;
}

/** Fixed-point digits: 8 bits of sample and 2 of head-room are left in 32. */
const PRECISION = 22;

function tapsOf(source: number, target: number, filter: Filter): Taps {
  const scale = source / target;
  const stretch = Math.max(scale, 1);
  const support = filter.support * stretch;
  const size = Math.ceil(support) * 2 + 1;
  const taps: Taps = {
    first: new Int32Array(target),
    count: new Int32Array(target),
    weights: new Int32Array(target * size),
    size,
  };
  for (let at = 0; at < target; at++) {
    const center = (at + 0.5) * scale;
    const first = Math.max(0, Math.trunc(center - support + 0.5));
    const count = Math.min(source, Math.trunc(center + support + 0.5)) - first;
    const raw = Array.from({ length: count }, (_, i) => filter.weight((i + first - center + 0.5) / stretch));
    const sum = raw.reduce((a, b) => a + b, 0);
    raw.forEach((weight, i) => {
      const share = sum === 0 ? weight : weight / sum;
      taps.weights[at * size + i] = Math.trunc((share < 0 ? -0.5 : 0.5) + share * (1 << PRECISION));
    });
    taps.first[at] = first;
    taps.count[at] = count;
  }
  return taps;
}

const ROUND = 1 << (PRECISION - 1);

function clip(sum: number): number {
  const value = sum >> PRECISION;
  return value < 0 ? 0 : value > 255 ? 255 : value;
}

/** In whole numbers of 32 bits, as Pillow has it; written out for colours, since this is most of what a request costs. */
function* alongRows(picture: Picture, target: number, filter: Filter): Steps<Picture> {
  const { width, height, channels } = picture;
  const taps = tapsOf(width, target, filter);
  const data = new Uint8Array(target * height * channels);
  const along = channels === 3 ? rowOfColours : rowOfSamples;
  for (let y = 0; y < height; y++) {
    along(picture, y, taps, data);
    yield;
  }
  return { data, width: target, height, channels };
}

function rowOfColours(
  { data, width }: Picture,
  y: number,
  { first, count, weights, size }: Taps,
  out: Uint8Array,
) {
  const target = first.length;
  for (let x = 0, o = y * target * 3; x < target; x++, o += 3) {
    let red = ROUND;
    let green = ROUND;
    let blue = ROUND;
    const end = x * size + count[x]!;
    for (let k = x * size, p = (y * width + first[x]!) * 3; k < end; k++, p += 3) {
      const weight = weights[k]!;
      red = (red + Math.imul(data[p]!, weight)) | 0;
      green = (green + Math.imul(data[p + 1]!, weight)) | 0;
      blue = (blue + Math.imul(data[p + 2]!, weight)) | 0;
    }
    out[o] = clip(red);
    out[o + 1] = clip(green);
    out[o + 2] = clip(blue);
  }
}

function rowOfSamples({ data, width, channels }: Picture, y: number, taps: Taps, out: Uint8Array): void {
  const { first, count, weights, size } = taps;
  const target = first.length;
  for (let x = 0, o = y * target * channels; x < target; x++) {
    const from = (y * width + first[x]!) * channels;
    for (let c = 0; c < channels; c++) {
      let sum = ROUND;
      for (let k = 0, p = from + c; k < count[x]!; k++, p += channels)
        sum = (sum + Math.imul(data[p]!, weights[x * size + k]!)) | 0;
      out[o++] = clip(sum);
    }
  }
}

/** Three samples beside each other at a time, whatever they are; what is left over one by one. */
function* alongColumns(
  { data, width, height, channels }: Picture,
  target: number,
  filter: Filter,
): Steps<Picture> {
  const { first, count, weights, size } = tapsOf(height, target, filter);
  const row = width * channels;
  const out = new Uint8Array(row * target);
  const whole = row - (row % 3);
  for (let y = 0; y < target; y++) {
    const [begin, end] = [y * size, y * size + count[y]!];
    for (let i = 0, o = y * row; i < whole; i += 3, o += 3) {
      let red = ROUND;
      let green = ROUND;
      let blue = ROUND;
      for (let k = begin, p = first[y]! * row + i; k < end; k++, p += row) {
        const weight = weights[k]!;
        red = (red + Math.imul(data[p]!, weight)) | 0;
        green = (green + Math.imul(data[p + 1]!, weight)) | 0;
        blue = (blue + Math.imul(data[p + 2]!, weight)) | 0;
      }
      out[o] = clip(red);
      out[o + 1] = clip(green);
      out[o + 2] = clip(blue);
    }
    for (let i = whole; i < row; i++) {
      let sum = ROUND;
      for (let k = begin, p = first[y]! * row + i; k < end; k++, p += row)
        sum = (sum + Math.imul(data[p]!, weights[k]!)) | 0;
      out[y * row + i] = clip(sum);
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

function pickNearest(picture: Picture, width: number, height: number): Picture {
  const { data, channels } = picture;
  const out = new Uint8Array(width * height * channels);
  const [rows, columns] = [positions(picture.height, height), positions(picture.width, width)];
  for (let y = 0, o = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const from = (rows[y]! * picture.width + columns[x]!) * channels;
      for (let c = 0; c < channels; c++) out[o++] = data[from + c]!;
    }
  }
  return { data: out, width, height, channels };
}
