import { RunError } from '../../../../core/errors.js';
import { type AnyresDefaults, createAnyresProcessor } from '../../../processors/image/anyres.js';
import { edgesAsPythonSees } from '../../../processors/image/image-processor.js';
import type { Edges } from '../../../processors/image/sizes.js';
import { firstNumber, type Json } from '../../../repository/model-folder.js';
import type { FamilyFiles, ImageFamily } from './family.js';
import { mapOf, resizedMap, together, withLineEnds } from './feature-map.js';
import { clipToken, imageToken } from './image-token.js';
import { pixelValues } from './pixel-values.js';

/** LLaVA-NeXT: squares of an image beside the whole one; lines of features end with one that the model has learned. */
export const createLlavaNextFamily = (files: FamilyFiles): ImageFamily =>
  createAnyresFamily(files, { ...NEXT, mostSquares: () => Infinity, dependsOnCount: false });

/** The same of a model that reads videos, too, which are not read here. */
export const createLlavaNextVideoFamily = (files: FamilyFiles): ImageFamily => ({
  ...createLlavaNextFamily(files),
  foreign: [clipToken(files, '<video>').placeholder],
});

/** LLaVA-OneVision: squares of an image where it is the only one, and not more features than so many squares have. */
export const createLlavaOnevisionFamily = (files: FamilyFiles): ImageFamily =>
  createAnyresFamily(files, { ...ONEVISION, mostSquares: mostSquaresOf, dependsOnCount: true });

const NEXT: AnyresDefaults & { vision: Json } = {
  edge: 224,
  sizes: [
    [336, 672],
    [672, 336],
    [672, 672],
    [1008, 336],
    [336, 1008],
  ],
  vision: { image_size: 336, patch_size: 14 },
};

const STEPS = [1, 2, 3, 4, 5, 6];
const EDGE = 384;

/** Of OneVision's encoder where config.json does not say. */
export const ONEVISION_VISION: Json = { image_size: EDGE, patch_size: 14 };

const ONEVISION: AnyresDefaults & { vision: Json } = {
  edge: EDGE,
  sizes: STEPS.flatMap((rows) => STEPS.map((columns) => [rows * EDGE, columns * EDGE] as const)),
  vision: ONEVISION_VISION,
};

function mostSquaresOf(config: Json): number {
  const given = config['vision_aspect_ratio'] ?? 'anyres_max_9';
  const found = /^anyres_max_(\d+)$/.exec(String(given));
  if (found) return Number(found[1]);
  throw new RunError('not_ready', `config.json: vision_aspect_ratio ${String(given)} is not supported`);
}

interface Anyres extends AnyresDefaults {
  vision: Json;
  mostSquares(config: Json): number;
  dependsOnCount: boolean;
}

/** Lines and columns of features. */
interface Lines {
  top: number;
  left: number;
  lines: number;
  columns: number;
}

function createAnyresFamily(files: FamilyFiles, kind: Anyres): ImageFamily {
  const { config, processing } = files;
  const token = imageToken(files);
  const processor = createAnyresProcessor(processing, kind);
  checkSizes(config, processor.sizes, kind);
  const side = sideOf(config, kind.vision);
  const each = side * side;
  const most = kind.mostSquares(config);
  const { edge } = processor;

  const seenOf = (size: Edges): Lines => {
    const { rows, columns } = processor.partsOf(size);
    return unpadded(edgesAsPythonSees(size), { lines: rows * side, columns: columns * side });
  };
  const smallerOf = ({ lines, columns }: Lines) => {
    const ratio = Math.sqrt((lines * columns) / (most * each));
    return ratio > 1.1
      ? { lines: floorDivided(lines, ratio), columns: floorDivided(columns, ratio) }
      : undefined;
  };
  const countOf = (size: Edges): number => {
    const seen = seenOf(size);
    const { lines, columns } = smallerOf(seen) ?? seen;
    return each + lines * (columns + 1);
  };
  return {
    ...{ ...token, mostPatches: each + 1, dependsOnCount: kind.dependsOnCount },
    layout: (size, several = false) => ({ patches: each + 1, count: several ? each + 1 : countOf(size) }),
    prepare(image, several = false) {
      const squares = several ? [processor.square(image)] : processor.process(image);
      return squares.map((values) => () => pixelValues(values(), { height: edge, width: edge }));
    },
    arrange(features, size, several = false) {
      const width = features.dims.at(-1)!;
      const rows = (from: number, count: number) =>
        (features.data as Float32Array).subarray(from * width, (from + count) * width);
      if (several) return together([rows(0, each + 1)], width);
      const { columns: across } = processor.partsOf(size);
      const seen = seenOf(size);
      const map = mapOf(features, seen, (line, column) => {
        const [y, x] = [seen.top + line, seen.left + column];
        const square = 1 + Math.floor(y / side) * across + Math.floor(x / side);
        return square * (each + 1) + (y % side) * side + (x % side);
      });
      const smaller = smallerOf(seen);
      const shown = smaller ? resizedMap(map, smaller.lines, smaller.columns) : map;
      return together([rows(0, each), ...withLineEnds(shown, rows(each, 1))], width);
    },
    expand: ({ count }) => token.placeholder.repeat(count),
  };
}

/** Squares and features are counted by the same list in Python, where both files say the same. */
function checkSizes(config: Json, sizes: AnyresDefaults['sizes'], usual: AnyresDefaults): void {
  const own = JSON.stringify(config['image_grid_pinpoints'] ?? usual.sizes);
  if (own === JSON.stringify(sizes)) return;
  throw new RunError(
    'not_ready',
    'image_grid_pinpoints of config.json and of preprocessor_config.json are not the same',
  );
}

/** Patches along an edge of a square. */
export function sideOf(config: Json, usual: Json): number {
  const vision = (config['vision_config'] ?? usual) as Json;
  const [image, patch] = ['image_size', 'patch_size'].map((name) => firstNumber(vision, name));
  if (image !== undefined && patch !== undefined) return Math.floor(image / patch);
  throw new RunError('not_ready', 'config.json: vision_config has no image_size and patch_size');
}

/** What of a map is an image of this size, which stands in its middle: unpad_image. */
function unpadded(size: Edges, { lines, columns }: Pick<Lines, 'lines' | 'columns'>): Lines {
  const wide = size.width / size.height > columns / lines;
  const kept = wide ? size.height * (columns / size.width) : size.width * (lines / size.height);
  const whole = Math.trunc(Number(kept.toFixed(7)));
  const bar = Math.floor(((wide ? lines : columns) - whole) / 2);
  return wide
    ? { top: bar, left: 0, lines: lines - 2 * bar, columns }
    : { top: 0, left: bar, lines, columns: columns - 2 * bar };
}

/** Python's `//` of floats. */
const floorDivided = (a: number, b: number): number => Math.round((a - (a % b)) / b);
