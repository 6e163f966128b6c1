import { RunError } from '../../../core/errors.js';
import type { Image } from '../../../media/decoded-image.js';
import type { Json } from '../../repository/model-folder.js';
import { planesOf, readLevels } from './levels.js';
import { smartSize } from './qwen2-vl.js';
import type { Resizer } from './resizer.js';
import type { Edges } from './sizes.js';

/** Images whose edges are whole numbers of cells, each of which becomes a token. */
export interface CellProcessor {
  /** Edge of a cell. */
  readonly cell: number;
  /** Most cells of an image. */
  readonly mostCells: number;
  /** @throws RunError 422 an image that Python's processor fails on */
  sizeOf(size: Edges): Edges;
  /** Values [3, height, width]. @throws as `sizeOf` */
  process(image: Image): Float32Array;
}

export interface CellRules {
  /** Fewest and most pixels that the file names. */
  pixels: { least: unknown; most: unknown };
  /** Edge of a cell where the file does not say. */
  cell: number;
  levels: Parameters<typeof readLevels>[1];
  resizer: Resizer;
}

/** @param config preprocessor_config.json @throws RunError `not_ready` for settings that are not supported */
export function createCellProcessor(config: Json, rules: CellRules): CellProcessor {
  const { resizer, pixels } = rules;
  const cell = wholeNumber('spatial_factor', config['spatial_factor'] ?? rules.cell);
  const [least, most] = [wholeNumber('min_pixels', pixels.least), wholeNumber('max_pixels', pixels.most)];
  if (config['do_resize'] === false)
    throw new RunError('not_ready', 'preprocessor_config.json: do_resize must be true');
  const levels = readLevels(config, rules.levels);
  const to = (seen: Edges): Edges => smartSize(seen, { factor: cell, least, most });
  return {
    cell,
    mostCells: Math.max(1, Math.floor(most / cell ** 2)),
    sizeOf: (size) => to(resizer.edges(size)),
    process(original) {
      const image = resizer.seen(original);
      return planesOf(resizer.resize(image, to(image)), levels);
    },
  };
}

function wholeNumber(name: string, value: unknown): number {
  if (typeof value === 'number' && Number.isInteger(value) && value > 0) return value;
  throw new RunError('not_ready', `preprocessor_config.json: ${name} is no whole number`);
}
