import { RunError } from '../../../../core/errors.js';
import { CLIP } from '../../../processors/image/levels.js';
import { resizerOf } from '../../../processors/image/resizer.js';
import { createCellProcessor } from '../../../processors/image/whole-cells.js';
import type { Json } from '../../../repository/model-folder.js';
import { tokenText } from '../../../tokenizers/tokenizer-json.js';
import { requireCells, requireImageToken } from './cells.js';
import type { FamilyFiles, ImageFamily, MediumLayout } from './family.js';
import { imageToken } from './image-token.js';
import { requireNamedToken } from './named-token.js';
import { pixelValues } from './pixel-values.js';

/** Edge of a cell, whatever the files say. */
const CELL = 8;
/** Pixels of an image where the file does not say. */
const [LEAST, MOST] = [512 * 512, 1024 * 1024];

/**
 * Emu 3: each cell of an image is a feature, and so is the end of each row.
 * @throws RunError not_ready where the files disagree: Python fails at each image
 */
export function createEmu3Family(files: FamilyFiles): ImageFamily {
  const { config, processing, tokenizer } = files;
  const token = imageToken(files);
  requireImageToken(tokenizer, token.placeholder);
  const { min_pixels: least = LEAST, max_pixels: most = MOST } = processing;
  const cells = createCellProcessor(processing, {
    ...{ pixels: { least, most }, cell: CELL, levels: CLIP, resizer: resizerOf(processing) },
  });
  if (cells.cell !== CELL)
    throw new RunError(
      'not_ready',
      `preprocessor_config.json: spatial_factor must be ${CELL}, as Python counts`,
    );
  requireCells(cells, (config['vq_config'] ?? {}) as Json, 4);
  const named = (name: string) => requireNamedToken(tokenizer, name);
  const [begin, end] = [named('boi_token'), `${named('eof_token')}${named('eoi_token')}`];
  const wrapper = named('image_wrapper_token');
  const first = tokenText(tokenizer.config['bos_token']);
  return {
    ...{ ...token, mostPatches: cells.mostCells },
    begin: (text) => (text.startsWith(first) ? text : first + text),
    layout(size) {
      const { height, width } = cells.sizeOf(size);
      const [rows, columns] = [height / cells.cell, width / cells.cell];
      return { count: rows * (columns + 1), patches: rows * columns, parts: { rows, columns } };
    },
    prepare: (image) => [() => pixelValues(cells.process(image), cells.sizeOf(image))],
    expand(layout, all = [layout]) {
      const { rows, columns } = layout.parts!;
      requireOneSize(all);
      return `${begin}${rows}*${columns}${wrapper}${token.placeholder.repeat(layout.count)}${end}`;
    },
  };
}

/** Python pads images to the largest of a conversation, and what is padded reaches into the others. */
function requireOneSize(all: readonly MediumLayout[]): void {
  const sizes = new Set(all.map(({ parts }) => `${parts!.rows}*${parts!.columns}`));
  if (sizes.size > 1)
    throw new RunError('unprocessable', 'messages: images of one conversation must have one size');
}
