import { HALVES } from '../../../processors/image/levels.js';
import { torchResizer } from '../../../processors/image/resizer.js';
import { createCellProcessor } from '../../../processors/image/whole-cells.js';
import type { Json } from '../../../repository/model-folder.js';
import type { FamilyFiles, ImageFamily } from './family.js';
import { imageToken } from './image-token.js';
import { requireCells, requireImageToken } from './cells.js';
import { requireNamedToken } from './named-token.js';
import { pixelValues } from './pixel-values.js';

/** Where the file does not say. */
const PIXELS = { min_pixels: 128 * 128, max_pixels: 1400 * 1400 };

/**
 * Apertus 1.5: each cell of an image is a token, row by row with a token between rows; only those of cells are features.
 * Audio clips, which its processor reads as well, are refused.
 * @throws RunError not_ready where the files disagree: Python fails at each image
 */
export function createApertus15Family(files: FamilyFiles): ImageFamily {
  const { config, processing, tokenizer } = files;
  const token = imageToken(files);
  requireImageToken(tokenizer, token.placeholder);
  const size = (processing['size'] ?? PIXELS) as Json;
  const cells = createCellProcessor(processing, {
    ...{ pixels: { least: size['min_pixels'], most: size['max_pixels'] }, cell: 16 },
    ...{ levels: HALVES, resizer: torchResizer(processing) },
  });
  requireCells(cells, (config['vision_config'] ?? {}) as Json, 5);
  const named = (name: string) => requireNamedToken(tokenizer, name);
  const [begin, end, wrapper, line] = [
    ...[named('boi_token'), named('eoi_token')],
    ...[named('image_wrapper_token'), named('eol_token')],
  ];
  const layout = (given: Parameters<ImageFamily['layout']>[0]) => {
    const { height, width } = cells.sizeOf(given);
    const [rows, columns] = [height / cells.cell, width / cells.cell];
    return { count: rows * columns, patches: rows * columns, parts: { rows, columns } };
  };
  return {
    ...{ ...token, foreign: [named('audio_token')], mostPatches: cells.mostCells, layout },
    prepare: (image) => [() => pixelValues(cells.process(image), cells.sizeOf(image))],
    expand({ parts }) {
      const { rows, columns } = parts!;
      const row = token.placeholder.repeat(columns);
      return `${begin}${rows}*${columns}${wrapper}${new Array<string>(rows).fill(row).join(line)}${end}`;
    },
  };
}
