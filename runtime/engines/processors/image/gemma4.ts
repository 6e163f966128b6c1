import { RunError } from '../../../core/errors.js';
import { finish } from '../../../core/steps.js';
import type { Image } from '../../../media/decoded-image.js';
import type { Json } from '../../repository/model-folder.js';
import { readLevels } from './levels.js';
import { patchRows } from './siglip2.js';
import type { Edges } from './sizes.js';
import { checkTorchSettings, resizedLikeTorch } from './torch-resize.js';

/** An image as rows of patches, as many as become whole features. */
export interface PatchedImage {
  /** [patches, patch x patch x channels], line by line. */
  values: Float32Array;
  /** Patches of a column, and of a line. */
  grid: readonly [number, number];
}

/** Makes images as large as so many features allow, in about their form. */
export interface SoftTokenImages {
  /** Pixels of a patch's edge, and patches of a feature's edge. */
  readonly patch: number;
  readonly factor: number;
  readonly mostPatches: number;
  /** Patches of a feature's edge, as `gridOf` counts them. */
  readonly pooled: number;
  /** Patches of a column, and of a line. @throws RunError 422 an image that Python's processor fails on */
  gridOf(size: Edges): readonly [number, number];
  /** @throws as `gridOf` */
  process(image: Image): PatchedImage;
}

/** Features of an image that the processor knows. */
const SOFT_TOKENS = [70, 140, 280, 560, 1120];
const BICUBIC = 3;
/** Levels go from 0 to 1. */
const UNCHANGED = { image_mean: [0, 0, 0], image_std: [1, 1, 1] };

/**
 * Gemma4ImageProcessor, from preprocessor_config.json.
 * @param whole patches are as large as features, as in Gemma4UnifiedImageProcessor
 * @throws RunError `not_ready` for settings that it fails with, or that are not known
 */
export function createSoftTokenImages(config: Json, { whole = false } = {}): SoftTokenImages {
  const [patch, factor] = [count(config, 'patch_size', 16), count(config, 'pooling_kernel_size', 3)];
  const tokens = count(config, 'max_soft_tokens', 280);
  if (!SOFT_TOKENS.includes(tokens))
    throw refused(`max_soft_tokens is ${tokens}, which is none of ${SOFT_TOKENS.join(', ')}`);
  if (config['do_resize'] === false) throw refused('do_resize must be true: images become whole features');
  const { resample = BICUBIC } = checkTorchSettings({ resample: config['resample'] ?? BICUBIC });
  const levels = readLevels({ do_normalize: false, ...config }, UNCHANGED);
  const mostPatches = tokens * factor ** 2;
  const edgesOf = (size: Edges) => resizedEdges(size, { mostPatches, patch, factor });
  const edge = whole ? factor * patch : patch;
  const gridOf = ({ height, width }: Edges) => [height / edge, width / edge] as const;
  return {
    ...{ patch, factor, pooled: whole ? 1 : factor, mostPatches: whole ? tokens : mostPatches },
    gridOf: (size) => gridOf(edgesOf(size)),
    process(image) {
      const to = edgesOf(image);
      const grid = gridOf(to);
      const resized = finish(resizedLikeTorch(image, to, resample as number));
      return { values: finish(patchRows(resized, levels, { patch: edge, rows: grid[0] * grid[1] })), grid };
    },
  };
}

function count(config: Json, name: string, otherwise: number): number {
  const given = config[name] ?? otherwise;
  if (typeof given === 'number' && Number.isInteger(given) && given >= 1) return given;
  throw refused(`${name} is ${JSON.stringify(given)}, which is no number of this kind`);
}

const refused = (what: string): RunError => new RunError('not_ready', `preprocessor_config.json: ${what}`);

interface Limits {
  mostPatches: number;
  patch: number;
  factor: number;
}

/** As large as so many patches allow, edges whole features; narrow images are a feature wide. get_aspect_ratio_preserving_size */
function resizedEdges({ height, width }: Edges, { mostPatches, patch, factor }: Limits): Edges {
  const unit = factor * patch;
  const pixels = mostPatches * patch ** 2;
  const scale = Math.sqrt(pixels / (height * width));
  const down = (edge: number) => Math.floor((scale * edge) / unit) * unit;
  const edges = { height: down(height), width: down(width) };
  if (edges.height === 0 && edges.width === 0)
    throw new RunError('unprocessable', 'the image becomes 0 x 0 pixels');
  const longest = Math.floor(mostPatches / factor ** 2) * unit;
  const along = (long: number, short: number) => Math.min(Math.floor(long / short) * unit, longest);
  if (edges.height === 0) return within({ height: unit, width: along(width, height) }, pixels);
  if (edges.width === 0) return within({ height: along(height, width), width: unit }, pixels);
  return within(edges, pixels);
}

function within(edges: Edges, pixels: number): Edges {
  if (edges.height * edges.width <= pixels) return edges;
  throw new RunError('unprocessable', `the image becomes more than ${pixels} pixels`);
}
