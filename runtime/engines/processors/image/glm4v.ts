import { RunError } from '../../../core/errors.js';
import { isObject } from '../../../hub-config/json.js';
import type { Json } from '../../repository/model-folder.js';
import { HALVES } from './levels.js';
import { ofImages, type PatchProcessor, patchRules } from './qwen2-vl.js';
import type { Edges } from './sizes.js';

/** Pixels of all frames of a step where the file does not say. */
const USUAL = { least: 112 * 112, most: 28 * 28 * 15_000 };

const USUAL_OF_COSMOS = { least: 256 * 256, most: 4096 * 4096 };

/**
 * Glm4vImageProcessor and Glm46VImageProcessor: the pixels of an image count as often as it is repeated, and a small one is
 * enlarged first. GlmgaImageProcessor: edges are multiples of several cells.
 * @param usual the class where the file names none
 * @throws RunError `not_ready` for sizes that Python's class does not take
 */
export function createGlmPatchProcessor(config: Json, usual = 'Glm4vImageProcessor'): PatchProcessor {
  // Qwen2-VL's names of these limits say nothing to this class.
  const { min_pixels: _, max_pixels: __, ...own } = config;
  requireLimits(own['size']);
  const name = String(own['image_processor_type'] ?? usual);
  const cells = name.startsWith('Glmga') ? cellsOf(own) : 1;
  return ofImages(patchRules(own, { usual: USUAL, before: enlarged, cells, countsFrames: true }));
}

/** Cosmos3EdgeImageProcessor: the same for images of one frame. */
export function createCosmosPatchProcessor(config: Json): PatchProcessor {
  const { temporal_patch_size: frames = 1, min_pixels: _, max_pixels: __, ...given } = config;
  if (frames !== 1)
    throw new RunError(
      'not_ready',
      'preprocessor_config.json: temporal_patch_size other than 1 is not known',
    );
  requireLimits(given['size']);
  const own = { patch_size: 16, ...HALVES, ...given, temporal_patch_size: 1 };
  return ofImages(patchRules(own, { usual: USUAL_OF_COSMOS, before: enlarged, countsFrames: true }));
}

function cellsOf(config: Json): number {
  const cells = config['patch_expand_factor'] ?? 1;
  if (Number.isInteger(cells) && Number(cells) > 0) return Number(cells);
  throw new RunError('not_ready', 'preprocessor_config.json: patch_expand_factor is no whole number');
}

function requireLimits(size: unknown): void {
  if (size === undefined || size === null) return;
  const edges = isObject(size) ? [size['shortest_edge'], size['longest_edge']] : [];
  if (edges.length === 2 && edges.every((edge) => typeof edge === 'number' && edge > 0)) return;
  throw new RunError(
    'not_ready',
    'preprocessor_config.json: size needs shortest_edge and longest_edge, the fewest and the most pixels',
  );
}

/** At least as long as a cell on both edges; what is left of a pixel is cut off. */
function enlarged({ height, width }: Edges, factor: number): Edges {
  if (height >= factor && width >= factor) return { height, width };
  const scale = Math.max(factor / height, factor / width);
  return { height: Math.trunc(height * scale), width: Math.trunc(width * scale) };
}
