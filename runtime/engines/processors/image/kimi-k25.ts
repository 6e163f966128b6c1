import { RunError } from '../../../core/errors.js';
import { finish } from '../../../core/steps.js';
import type { Image } from '../../../media/decoded-image.js';
import { firstNumber, type Json } from '../../repository/model-folder.js';
import { HALVES, readLevels } from './levels.js';
import { cutPatches, gridOf, type PatchProcessor } from './qwen2-vl.js';
import type { Edges } from './sizes.js';
import { checkTorchSettings, resizedLikeTorch } from './torch-resize.js';

const BICUBIC = 3;

interface Limits {
  patch: number;
  merge: number;
  most: number;
  /** Patches of an edge. */
  longest: number;
}

/**
 * Kimi_K25ImageProcessor, from preprocessor_config.json: large images become smaller, and black fills up what is no whole cell.
 * @throws RunError `not_ready` for settings that it fails with, or that are not known
 */
export function createKimiPatchProcessor(config: Json): PatchProcessor {
  const [patch, merge] = [firstNumber(config, 'patch_size') ?? 14, firstNumber(config, 'merge_size') ?? 2];
  if (config['do_resize'] === false) throw refused('do_resize must be true: images become whole cells');
  const limits = {
    patch,
    merge,
    most: firstNumber(config, 'max_patches') ?? 16_384,
    longest: longestOf(config),
  };
  const { resample = BICUBIC } = checkTorchSettings({ resample: config['resample'] ?? BICUBIC });
  const levels = readLevels(config, HALVES);
  const filled = (to: Edges) => filledUp(to, patch * merge);
  return {
    mergeSize: merge,
    // What fills an image up may be one more line and column of cells.
    mostPatches: Math.ceil((Math.sqrt(limits.most) + merge) ** 2) + merge * limits.longest,
    gridOf: (size) => gridOf(filled(smaller(size, limits)), patch, merge),
    process(image) {
      const to = smaller(image, limits);
      const whole = onBlack(finish(resizedLikeTorch(image, to, resample as number)), filled(to));
      return { values: cutPatches([whole], { patch, merge, levels }), grid: gridOf(whole, patch, merge) };
    },
  };
}

function longestOf(config: Json): number {
  const size = (config['size'] ?? { max_height: 512, max_width: 512 }) as Json;
  const [height, width] = [firstNumber(size, 'max_height'), firstNumber(size, 'max_width')];
  if (height !== undefined && height === width) return height;
  throw refused('size needs max_height and max_width, which are the same');
}

/** Never larger than it is. navit_resize */
function smaller({ height, width }: Edges, { patch, most, longest }: Limits): Edges {
  const patches = Math.max(1, Math.floor(height / patch)) * Math.max(1, Math.floor(width / patch));
  const edge = longest * patch;
  const scale = Math.min(1, Math.sqrt(most / patches), edge / height, edge / width);
  const scaled = (length: number) => Math.min(Math.max(1, Math.trunc(length * scale)), edge);
  return { height: scaled(height), width: scaled(width) };
}

const filledUp = ({ height, width }: Edges, cell: number): Edges => ({
  ...{ height: Math.ceil(height / cell) * cell, width: Math.ceil(width / cell) * cell },
});

/** The image in the upper left corner of a black one. */
function onBlack(image: Image, { height, width }: Edges): Image {
  const { data, channels } = image;
  const [from, to] = [image.width * channels, width * channels];
  const found = new Uint8Array(height * to);
  for (let y = 0; y < image.height; y++) found.set(data.subarray(y * from, (y + 1) * from), y * to);
  return { data: found, width, height, channels };
}

const refused = (what: string): RunError => new RunError('not_ready', `preprocessor_config.json: ${what}`);
