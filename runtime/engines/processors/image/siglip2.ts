import { RunError } from '../../../core/errors.js';
import type { Steps } from '../../../core/steps.js';
import type { Image } from '../../../media/decoded-image.js';
import { levelTable, type LevelSettings } from './levels.js';
import { resizeSteps } from './pillow-resize.js';
import type { Floats, ProcessorSettings } from './processor-settings.js';
import type { Edges } from './sizes.js';

/** Where Python's search for a scale ends. */
const EPSILON = 1e-5;

/** As large as so many patches allow, edges whole patches. */
function sizeFor(
  { height, width }: Edges,
  { patch_size: patch, max_num_patches: most }: ProcessorSettings,
): Edges {
  const edge = (scale: number, length: number) =>
    Math.max(patch, Math.ceil((length * scale) / patch) * patch);
  let [low, high] = [EPSILON / 10, 100];
  while (high - low >= EPSILON) {
    const scale = (low + high) / 2;
    const patches = (edge(scale, height) / patch) * (edge(scale, width) / patch);
    if (patches <= most) low = scale;
    else high = scale;
  }
  return { height: edge(low, height), width: edge(low, width) };
}

/** Siglip2: a row of numbers for each patch, pixel by pixel, and rows of zeros up to the most patches. */
export function* siglip2Floats(given: Image, settings: ProcessorSettings): Steps<Floats> {
  const { patch_size: patch, max_num_patches: most } = settings;
  const to = sizeFor(given, settings);
  const image = settings.do_resize
    ? yield* resizeSteps(given, to.width, to.height, settings.resample)
    : given;
  const grid = [Math.floor(image.height / patch), Math.floor(image.width / patch)] as const;
  const exact = grid[0] * patch === image.height && grid[1] * patch === image.width;
  if (!exact || grid[0] * grid[1] > most)
    throw new RunError('unprocessable', `the image is not of whole patches, ${most} of them at most`);
  const values = yield* patchRows(image, settings, { patch, rows: most });
  return { values, height: most, width: values.length / most, patches: grid };
}

/** Numbers of each patch, pixel by pixel, line by line of patches: [rows, numbers], zeros behind the last patch. */
export function* patchRows(
  { data, width, height, channels }: Image,
  levels: LevelSettings,
  { patch, rows }: { patch: number; rows: number },
): Steps<Float32Array> {
  const row = patch * channels;
  const [lines, columns] = [Math.floor(height / patch), Math.floor(width / patch)];
  const values = new Float32Array(rows * patch * row);
  const tables = Array.from({ length: channels }, (_, channel) => levelTable(channel, levels));
  let at = 0;
  for (let index = 0; index < lines * columns; index++) {
    const [top, left] = [Math.floor(index / columns) * patch, (index % columns) * patch];
    for (let y = top; y < top + patch; y++) {
      const from = (y * width + left) * channels;
      for (let i = 0; i < row; i++) values[at++] = tables[i % channels]![data[from + i]!]!;
    }
    yield;
  }
  return values;
}
