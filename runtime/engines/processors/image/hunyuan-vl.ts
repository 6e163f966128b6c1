import { RunError } from '../../../core/errors.js';
import type { Image } from '../../../media/decoded-image.js';
import { firstNumber, type Json } from '../../repository/model-folder.js';
import { CLIP, planesOf, readLevels } from './levels.js';
import { gridOf, smartSize } from './qwen2-vl.js';
import { resizerOf } from './resizer.js';
import type { Edges } from './sizes.js';

/** Makes images as large as whole cells of patches. */
export interface CellProcessor {
  readonly mostPatches: number;
  /** Patches in height and width, and how many of them become one feature. */
  gridOf(size: Edges): { rows: number; columns: number; merge: number };
  /** Values [3, height, width]. @throws RunError 422 an image that Python's processor fails on */
  process(image: Image): { values: Float32Array; size: Edges };
}

/** Pixels of an image where the file does not say. */
const [LEAST, MOST] = [512 * 512, 2048 * 2048];
/** The class resizes by it, whatever the file says. */
const BICUBIC = 3;

/**
 * HunYuanVLImageProcessor, from preprocessor_config.json.
 * @throws RunError `not_ready` for patches over time, which its network does not take
 */
export function createCellProcessor(config: Json): CellProcessor {
  const [patch, merge] = [firstNumber(config, 'patch_size') ?? 16, firstNumber(config, 'merge_size') ?? 2];
  if ((config['temporal_patch_size'] ?? 1) !== 1)
    throw new RunError(
      'not_ready',
      'preprocessor_config.json: temporal_patch_size other than 1 is not known',
    );
  const limits = limitsOf(config);
  const levels = readLevels(config, CLIP);
  const resizer = resizerOf({ ...config, resample: BICUBIC });
  const doResize = config['do_resize'] !== false;
  const sizeOf = (seen: Edges): Edges =>
    doResize ? smartSize(seen, { factor: patch * merge, ...limits }) : seen;
  return {
    mostPatches: doResize ? Math.max(merge ** 2, Math.floor(limits.most / patch ** 2)) : Infinity,
    gridOf(size) {
      const [, rows, columns] = gridOf(sizeOf(resizer.edges(size)), patch, merge);
      return { rows, columns, merge };
    },
    process(given) {
      const image = resizer.seen(given);
      const { height, width } = sizeOf(image);
      return { values: planesOf(resizer.resize(image, { height, width }), levels), size: { height, width } };
    },
  };
}

function limitsOf(config: Json): { least: number; most: number } {
  const size = (config['size'] ?? {}) as Json;
  const given = 'size' in config && config['size'] !== null;
  const [least, most] = [
    firstNumber(config, 'min_pixels') ?? firstNumber(size, 'shortest_edge') ?? (given ? undefined : LEAST),
    firstNumber(config, 'max_pixels') ?? firstNumber(size, 'longest_edge') ?? (given ? undefined : MOST),
  ];
  if (least !== undefined && most !== undefined) return { least, most };
  throw new RunError(
    'not_ready',
    'preprocessor_config.json: size needs shortest_edge and longest_edge, the fewest and the most pixels',
  );
}
