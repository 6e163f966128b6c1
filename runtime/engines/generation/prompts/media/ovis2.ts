import { RunError } from '../../../../core/errors.js';
import type { Canvas } from '../../../processors/image/canvas.js';
import { createOvis2Processor } from '../../../processors/image/ovis2.js';
import { firstNumber, type Json } from '../../../repository/model-folder.js';
import { together } from './feature-map.js';
import type { FamilyFiles, ImageFamily } from './family.js';
import { imageToken } from './image-token.js';
import { pixelValues } from './pixel-values.js';

/** Where the files do not say: features of a tile, edges of tiles and patches, and those of these that are joined along an edge. */
const [FEATURES, EDGE, PATCH, JOINED] = [256, 224, 14, 1];
const MARKS = [151_666, 151_667, 151_668, 151_669, 151_670];

const MARK = {
  start: '<IMG_START>',
  grid: '<IMG_GRID>',
  column: '<IMG_COL>',
  row: '<IMG_ROW>',
  end: '<IMG_END>',
};
const ATOM = '<IMG_ATOM>';

/** Marks and, by their numbers, the whole image and its tiles, as they follow one another. */
function partsOf({ rows, columns }: Canvas): (string | number)[] {
  const line = (row: number) =>
    Array.from({ length: columns }, (_, column) => {
      const tile = 1 + row * columns + column;
      return column < columns - 1 ? [tile, MARK.column] : [tile];
    }).flat();
  const tiles = Array.from({ length: rows }, (_, row) =>
    row < rows - 1 ? [...line(row), MARK.row] : line(row),
  ).flat();
  return [MARK.start, 0, MARK.grid, ...(rows * columns > 1 ? tiles : []), MARK.end];
}

/**
 * Ovis 2: an image and its tiles, with learned vectors around and between them.
 * @throws RunError not_ready for files whose tokens or numbers don't fit together: Python fails at each image, or answers without it
 */
export function createOvis2Family(files: FamilyFiles): ImageFamily {
  const { config, processor, tokenizer } = files;
  const { tokenId } = imageToken(files);
  const tiles = createOvis2Processor(files.processing);
  const vision = (config['vision_config'] ?? {}) as Json;
  const number = (name: string, usual: number) => firstNumber(vision, name) ?? usual;
  const side = Math.floor(number('image_size', EDGE) / number('patch_size', PATCH));
  const each = Math.floor(side / number('hidden_stride', JOINED)) ** 2;
  const written = firstNumber(processor, 'image_seq_length') ?? FEATURES;
  if (tiles.height !== number('image_size', EDGE) || tiles.width !== tiles.height)
    throw new RunError('not_ready', 'preprocessor_config.json: size is not image_size of config.json');
  if (written !== each)
    throw new RunError(
      'not_ready',
      `processor_config.json: image_seq_length is ${written}, and a tile has ${each} features`,
    );
  const ids = (config['visual_indicator_token_ids'] ?? MARKS) as number[];
  const placeOf = (mark: string) => ids.indexOf(tokenizer.idOf(mark) ?? -1);
  const marks = Object.values(MARK);
  if (marks.some((mark) => placeOf(mark) < 0) || tokenizer.idOf(ATOM) !== tokenId)
    throw new RunError(
      'not_ready',
      'config.json: image_token_id and visual_indicator_token_ids are not the tokens around images',
    );
  /** Rows of a run's features: those around images, and behind them those of a tile. */
  const around = firstNumber(vision, 'num_visual_indicator_tokens') ?? 5;
  return {
    ...{ placeholder: '<image>', tokenId, otherIds: ids, mostPatches: side * side },
    foreign: [ATOM, ...marks],
    layout(size) {
      const parts = tiles.gridOf(size);
      const counts = partsOf(parts).map((part) => (typeof part === 'string' ? 1 : each));
      return { count: counts.reduce((sum, count) => sum + count, 0), patches: side * side, parts };
    },
    prepare: (image) => tiles.process(image).map((values) => () => pixelValues(values(), tiles)),
    arrange(features, size) {
      const width = features.dims.at(-1)!;
      const given = features.data as Float32Array;
      const taken = (from: number, count: number) => given.subarray(from * width, (from + count) * width);
      const parts = partsOf(tiles.gridOf(size)).map((part) =>
        typeof part === 'string' ? taken(placeOf(part), 1) : taken(part * (around + each) + around, each),
      );
      return together(parts, width);
    },
    expand: ({ parts }) =>
      partsOf(parts!)
        .map((part) => (typeof part === 'string' ? part : ATOM.repeat(each)))
        .join(''),
  };
}
