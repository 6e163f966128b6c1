import { RunError } from '../../../core/errors.js';
import { roundHalfEven } from '../../../core/round-half-even.js';
import { finish } from '../../../core/steps.js';
import type { Image } from '../../../media/decoded-image.js';
import type { Json } from '../../repository/model-folder.js';
import { bestCanvas, type Canvas, canvases, type CanvasLimits, cut, MOST_TILES } from './canvas.js';
import { HALVES, type LevelSettings, readLevels } from './levels.js';
import { patchRows } from './siglip2.js';
import type { Edges } from './sizes.js';
import { checkTorchSettings, resizedLikeTorch } from './torch-resize.js';

/** A tile, or a whole image, as rows of patches. */
export interface PatchedTile {
  /** [patches, patch x patch x channels], line by line. */
  values: Float32Array;
  /** Patches of a column, and of a line. */
  grid: readonly [number, number];
}

/** How an image is cut. */
export interface TiledImage extends Canvas {
  /** Edges of the image when it is read whole. */
  whole: Edges;
  /** The whole image is read: behind the tiles, or alone. */
  readsWhole: boolean;
}

/** Cuts large images into tiles of one size; others keep about their form. */
export interface NaflexTiles {
  /** Pixels of a patch's edge, patches of a feature's edge, and pixels of a tile's edge. */
  readonly patch: number;
  readonly factor: number;
  readonly edge: number;
  /** Of a tile, or of a whole image. */
  readonly mostPatches: number;
  /** @throws RunError 422 an image that Python's processor fails on */
  partsOf(size: Edges): TiledImage;
  /** Row by row, the whole image at the end, made when they are asked for. @throws as `partsOf` */
  process(image: Image): (() => PatchedTile)[];
}

interface Rules {
  patch: number;
  factor: number;
  edge: number;
  /** Fewest and most features of a whole image. */
  least: number;
  most: number;
  tolerance: number;
  /** Undefined where images stay whole. */
  limits: CanvasLimits | undefined;
  thumbnail: boolean;
  resample: number;
  levels: LevelSettings;
  mostPatches: number;
}

/**
 * Lfm2VlImageProcessor, from preprocessor_config.json.
 * @throws RunError `not_ready` for settings that it fails with, or that are not known
 */
export function createNaflexTiles(config: Json): NaflexTiles {
  const rules = rulesOf(config);
  const { patch, factor, edge, mostPatches } = rules;
  return {
    ...{ patch, factor, edge, mostPatches },
    partsOf: (size) => tiled(size, rules),
    process(image) {
      const { rows, columns, whole, readsWhole } = tiled(image, rules);
      const to = (size: Edges) => finish(resizedLikeTorch(image, size, rules.resample));
      const last = readsWhole ? [() => patched(to(whole), rules)] : [];
      if (rows * columns === 1 && readsWhole) return last;
      const [large, tile] = [
        to({ height: rows * edge, width: columns * edge }),
        { height: edge, width: edge },
      ];
      const tiles = Array.from({ length: rows * columns }, (_, i) => () => {
        return patched(cut(large, Math.floor(i / columns), i % columns, tile), rules);
      });
      return [...tiles, ...last];
    },
  };
}

function rulesOf(config: Json): Rules {
  const value = <T>(name: string, otherwise: T): T => (config[name] ?? otherwise) as T;
  const count = (name: string, otherwise: number): number => {
    const given = value<unknown>(name, otherwise);
    if (typeof given === 'number' && Number.isInteger(given) && given >= 1) return given;
    throw refused(`${name} is ${JSON.stringify(given)}, which is no number of this kind`);
  };
  const [patch, factor] = [count('encoder_patch_size', 16), count('downsample_factor', 2)];
  const [edge, most] = [count('tile_size', 512), count('max_image_tokens', 256)];
  const tolerance = value<unknown>('max_pixels_tolerance', 2);
  if (typeof tolerance !== 'number') throw refused('max_pixels_tolerance is no number');
  const splits = value('do_image_splitting', true);
  const limits = splits ? limitsOf(count('min_tiles', 2), count('max_tiles', 10), edge) : undefined;
  if (limits && edge % (patch * factor) !== 0)
    throw refused(`tile_size ${edge} is not a multiple of encoder_patch_size * downsample_factor`);
  if (!value('do_pad', true)) throw refused('do_pad must be true: without it the network gets no sizes');
  const { resample = 2 } = checkTorchSettings({ resample: value('resample', 2) });
  return {
    ...{ patch, factor, edge, most, least: count('min_image_tokens', 64) },
    tolerance,
    limits: limits && limits.most > 1 ? limits : undefined,
    thumbnail: value('use_thumbnail', true),
    resample: resample as number,
    levels: readLevels(config, HALVES),
    mostPatches: Math.max(most * factor ** 2, splits ? (edge / patch) ** 2 : 0),
  };
}

function limitsOf(least: number, most: number, edge: number): CanvasLimits {
  if (least > most) throw refused('min_tiles is more than max_tiles');
  if (most > MOST_TILES) throw refused(`max_tiles is more than ${MOST_TILES}`);
  return { least, most, tile: { height: edge, width: edge } };
}

const refused = (what: string): RunError => new RunError('not_ready', `preprocessor_config.json: ${what}`);

function tiled(size: Edges, rules: Rules): TiledImage {
  const { limits, thumbnail, patch, edge, mostPatches } = rules;
  const whole = wholeEdges(size, rules);
  const patches = (whole.height / patch) * (whole.width / patch);
  if (!limits || !isLarge(size, rules)) {
    requirePatches(patches, mostPatches);
    return { rows: 1, columns: 1, whole, readsWhole: true };
  }
  const canvas = bestCanvas(size, limits);
  requireOneForm(size, canvas, limits);
  const isOne = canvas.rows * canvas.columns === 1;
  // Python writes as many tokens as the whole image would have.
  if (isOne && patches !== (edge / patch) ** 2)
    throw new RunError('unprocessable', 'the image becomes a single tile with another number of features');
  const readsWhole = thumbnail && !isOne;
  if (readsWhole) requirePatches(patches, mostPatches);
  return { ...canvas, whole, readsWhole };
}

function requirePatches(patches: number, most: number): void {
  if (patches <= most) return;
  throw new RunError('unprocessable', `the image becomes ${patches} patches, more than ${most}`);
}

/** Python's set has canvases of as many tiles in an order of its own, which would choose between those that are as near. */
function requireOneForm({ height, width }: Edges, best: Canvas, limits: CanvasLimits): void {
  const apart = (canvas: Canvas) => Math.abs(width / height - canvas.columns / canvas.rows);
  const tiles = best.rows * best.columns;
  const equal = canvases(limits.least, limits.most).filter(
    (canvas) => canvas.rows * canvas.columns === tiles && apart(canvas) === apart(best),
  );
  if (equal.length > 1)
    throw new RunError(
      'unprocessable',
      `the image of ${width} x ${height} pixels is as near to ${equal.length} grids of ${tiles} tiles; send it a pixel wider`,
    );
}

/** Edges become multiples of a feature's, so that there are neither too few features nor too many. */
function wholeEdges({ height, width }: Edges, { patch, factor, least, most }: Rules): Edges {
  const cell = patch * factor;
  const near = (length: number) => Math.max(cell, roundHalfEven(length / cell) * cell);
  const [rounded, pixels] = [near(height) * near(width), (features: number) => features * cell ** 2];
  if (rounded > pixels(most)) {
    const beta = Math.sqrt((height * width) / pixels(most));
    const down = (length: number) => Math.max(cell, Math.floor(length / beta / cell) * cell);
    return { height: down(height), width: down(width) };
  }
  if (rounded < pixels(least)) {
    const beta = Math.sqrt(pixels(least) / (height * width));
    const up = (length: number) => Math.ceil((length * beta) / cell) * cell;
    return { height: up(height), width: up(width) };
  }
  return { height: near(height), width: near(width) };
}

function isLarge({ height, width }: Edges, { patch, factor, most, tolerance }: Rules): boolean {
  const cell = patch * factor;
  const near = (length: number) => Math.max(patch, roundHalfEven(length / cell) * cell);
  return near(height) * near(width) > most * cell ** 2 * tolerance;
}

function patched(image: Image, { patch, levels }: Rules): PatchedTile {
  const grid = [image.height / patch, image.width / patch] as const;
  return { values: finish(patchRows(image, levels, { patch, rows: grid[0] * grid[1] })), grid };
}
