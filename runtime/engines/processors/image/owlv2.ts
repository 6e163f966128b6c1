import { RunError } from '../../../core/errors.js';
import type { Steps } from '../../../core/steps.js';
import type { Image } from '../../../media/decoded-image.js';
import { transformersMajor } from '../../../hub-config/version.js';
import type { Json } from '../../repository/model-folder.js';
import { requireRescaled } from './levels.js';
import type { Floats, ProcessorSettings } from './processor-settings.js';

/** @throws RunError `not_ready` for levels that are not rescaled, and for the nearest pixels, which version 5 alone takes */
export function owlv2Settings(config: Json): Json {
  if (config['resample'] === 0 && (transformersMajor(config) ?? 4) >= 5)
    throw new RunError('not_ready', 'preprocessor_config.json: resample 0 is not supported');
  return requireRescaled(config);
}

/** Value beyond an image that is padded to a square; classes of version 5 pad with zeros. */
const PADDING = 0.5;

/**
 * OWLv2: padded to a square, blurred by a Gaussian and sampled linearly (scipy's gaussian_filter and zoom, both with mode
 * "mirror"), kept within the range of the input, normalised. Both filters are linear and by axis, so that each axis needs
 * one sum of weights; rows are added to the result one by one, and neither the square nor the blurred image is held.
 */
export function* owlv2Floats(image: Image, settings: ProcessorSettings): Steps<Floats> {
  const edge = Math.max(image.height, image.width);
  const square = settings.do_pad ? { height: edge, width: edge } : image;
  const to = settings.do_resize && 'height' in settings.size ? settings.size : square;
  const values = yield* zoomed(image, {
    square,
    to,
    factor: settings.do_rescale ? settings.rescale_factor : 1,
    padding: settings.major >= 5 ? 0 : PADDING,
  });
  const plane = to.height * to.width;
  if (settings.do_normalize) {
    for (let c = 0; c < 3; c++) {
      const [mean, std] = [settings.image_mean[c]!, settings.image_std[c]!];
      for (let i = c * plane; i < (c + 1) * plane; i++) values[i] = (values[i]! - mean) / std;
    }
  }
  return { values, height: to.height, width: to.width };
}

interface Zoom {
  square: { height: number; width: number };
  to: { height: number; width: number };
  factor: number;
  padding: number;
}

function* zoomed(image: Image, { square, to, factor, padding }: Zoom): Steps<Float32Array> {
  const across = flatten(weightsOf(square.width, to.width));
  const down = targetsOf(weightsOf(square.height, to.height), square.height);
  const plane = to.height * to.width;
  const values = new Float32Array(plane * 3);
  const row = new Float32Array(to.width * 3);
  for (let y = 0; y < square.height; y++) {
    if (y < image.height) blurRow(image, y, { across, factor, padding, row });
    else row.fill(padding);
    for (const [line, weight] of down[y]!) {
      for (let c = 0; c < 3; c++) {
        const [from, at] = [c * to.width, c * plane + line * to.width];
        for (let x = 0; x < to.width; x++) values[at + x]! += weight * row[from + x]!;
      }
    }
    yield;
  }
  const isPadded = square.height !== image.height || square.width !== image.width;
  return clipped(values, rangeOf(image, factor, isPadded ? padding : undefined));
}

/** Source index and weight, for each target index. */
type Weights = [index: number, weight: number][];

function weightsOf(from: number, to: number): Weights[] {
  const scale = from / to;
  const kernel = gaussian(Math.max(0, (scale - 1) / 2));
  const radius = (kernel.length - 1) / 2;
  return Array.from({ length: to }, (_, i) => {
    const at = Math.abs((i + 0.5) * scale - 0.5);
    const low = Math.floor(at);
    const sums = new Map<number, number>();
    for (const [index, share] of [
      [low, 1 - (at - low)],
      [low + 1, at - low],
    ] as const) {
      if (share === 0) continue;
      kernel.forEach((weight, k) => {
        const source = mirrored(mirrored(index, from) + k - radius, from);
        sums.set(source, (sums.get(source) ?? 0) + weight * share);
      });
    }
    return [...sums];
  });
}

/** Four deviations to each side; the neighbours that are there of a single pixel are itself. */
function gaussian(sigma: number): number[] {
  const radius = sigma > 1e-15 ? Math.trunc(4 * sigma + 0.5) : 0;
  const raw = Array.from({ length: 2 * radius + 1 }, (_, i) =>
    radius === 0 ? 1 : Math.exp((-0.5 / (sigma * sigma)) * (i - radius) ** 2),
  );
  const sum = raw.reduce((a, b) => a + b, 0);
  return raw.map((weight) => weight / sum);
}

/** Reflected about the middle of the last pixels. */
function mirrored(index: number, length: number): number {
  if (length === 1) return 0;
  const period = 2 * (length - 1);
  const at = ((index % period) + period) % period;
  return at < length ? at : period - at;
}

/** The same the other way round: target index and weight, for each source index. */
function targetsOf(weights: Weights[], length: number): Weights[] {
  const found = Array.from({ length }, (): Weights => []);
  for (const [target, sources] of weights.entries()) {
    for (const [source, weight] of sources) found[source]!.push([target, weight]);
  }
  return found;
}

/** All weights of an axis in a row, since they are read for each pixel. */
interface FlatWeights {
  /** Where those of each target begin; one more at the end. */
  starts: Int32Array;
  sources: Int32Array;
  weights: Float64Array;
}

function flatten(all: Weights[]): FlatWeights {
  const starts = new Int32Array(all.length + 1);
  for (const [i, own] of all.entries()) starts[i + 1] = starts[i]! + own.length;
  return {
    starts,
    sources: Int32Array.from(all.flatMap((own) => own.map(([source]) => source))),
    weights: Float64Array.from(all.flatMap((own) => own.map(([, weight]) => weight))),
  };
}

function blurRow(
  { data, width, channels }: Image,
  y: number,
  {
    across,
    factor,
    padding,
    row,
  }: { across: FlatWeights; factor: number; padding: number; row: Float32Array },
): void {
  const { starts, sources, weights } = across;
  const count = starts.length - 1;
  for (let x = 0; x < count; x++) {
    let [red, green, blue, beyond] = [0, 0, 0, 0];
    for (let k = starts[x]!; k < starts[x + 1]!; k++) {
      const [source, weight] = [sources[k]!, weights[k]!];
      if (source >= width) {
        beyond += weight;
        continue;
      }
      const from = (y * width + source) * channels;
      red += weight * data[from]!;
      green += weight * data[from + 1]!;
      blue += weight * data[from + 2]!;
    }
    row[x] = red * factor + beyond * padding;
    row[count + x] = green * factor + beyond * padding;
    row[2 * count + x] = blue * factor + beyond * padding;
  }
}

function rangeOf({ data }: Image, factor: number, padding: number | undefined): [number, number] {
  let [low, high] = [255, 0];
  for (const level of data) {
    if (level < low) low = level;
    if (level > high) high = level;
  }
  const [least, most] = [Math.fround(low * factor), Math.fround(high * factor)];
  return padding === undefined ? [least, most] : [Math.min(least, padding), Math.max(most, padding)];
}

function clipped(values: Float32Array, [least, most]: [number, number]): Float32Array {
  for (let i = 0; i < values.length; i++) values[i] = Math.min(most, Math.max(least, values[i]!));
  return values;
}
