import { RunError } from '../../../core/errors.js';
import type { Steps } from '../../../core/steps.js';
import type { Image } from '../../../media/decoded-image.js';
import type { Json } from '../../repository/model-folder.js';
import type { Floats, ProcessorSettings } from './processor-settings.js';
import { type Edges, edgesOf } from './sizes.js';
import { filtered } from './torch-resize.js';

/**
 * Pix2Struct's settings in the names of the others.
 * @throws RunError `not_ready` for levels that stay as they are, and patches that are not square
 */
export function pix2structSettings(config: Json): Json {
  const { max_patches = 2048, do_normalize } = config;
  const { height, width } = edgesOf(config['patch_size'] ?? 16) as Partial<Edges>;
  // Python fails on bytes.
  if (do_normalize === false)
    throw new RunError('not_ready', 'preprocessor_config.json: do_normalize must be true for Pix2Struct');
  if (height === undefined || height !== width)
    throw new RunError('not_ready', 'preprocessor_config.json: patches must be square');
  return { ...config, patch_size: height, max_num_patches: max_patches };
}

const BILINEAR = 2;

/**
 * Pix2Struct: the whole image has a mean of 0 and a deviation of 1, and is as large as so many patches allow. Rows of
 * [row, column, pixels], row and column from 1 on, without those of padding.
 */
export function* pix2structFloats(image: Image, settings: ProcessorSettings): Steps<Floats> {
  const { patch_size: patch } = settings;
  const [rows, columns] = gridOf(image, settings);
  const [mean, deviation] = spreadOf(image);
  const to = { height: rows * patch, width: columns * patch };
  const planes = yield* filtered(image, to, BILINEAR);
  const width = 2 + patch * patch * image.channels;
  const values = new Float32Array(rows * columns * width);
  let at = 0;
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      values[at++] = row + 1;
      values[at++] = column + 1;
      for (let i = 0; i < width - 2; i++) {
        const [pixel, channel] = [Math.floor(i / image.channels), i % image.channels];
        const y = row * patch + Math.floor(pixel / patch);
        const x = column * patch + (pixel % patch);
        values[at++] = (planes[(channel * to.height + y) * to.width + x]! - mean) / deviation;
      }
    }
    yield;
  }
  return { values, height: rows * columns, width, patches: [rows, columns] };
}

/** Rows and columns of patches. */
function gridOf(
  { height, width }: Edges,
  { patch_size: patch, max_num_patches: most }: ProcessorSettings,
): [number, number] {
  const scale = Math.sqrt(most * (patch / height) * (patch / width));
  const along = (length: number) => Math.max(1, Math.min(most, Math.floor((scale * length) / patch)));
  return [along(height), along(width)];
}

/** Mean and standard deviation of all levels. */
function spreadOf({ data }: Image): [number, number] {
  const counts = new Float64Array(256);
  for (const level of data) counts[level]!++;
  const mean = counts.reduce((sum, count, level) => sum + count * level, 0) / data.length;
  const variance = counts.reduce((sum, count, level) => sum + count * (level - mean) ** 2, 0) / data.length;
  return [mean, Math.max(Math.sqrt(variance), 1 / Math.sqrt(data.length))];
}
