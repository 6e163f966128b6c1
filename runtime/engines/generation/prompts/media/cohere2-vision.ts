import { createFittingProcessor } from '../../../processors/image/got-ocr2.js';
import { firstNumber, type Json } from '../../../repository/model-folder.js';
import type { FamilyFiles, ImageFamily } from './family.js';
import { requireNamedToken } from './named-token.js';
import { imageToken } from './image-token.js';
import { pixelValues } from './pixel-values.js';

/** Features along an edge of a tile where preprocessor_config.json does not say. */
const FEATURES = 16;

/** Cohere 2 Vision: images are cut into tiles, each with the end of a line behind. */
export function createCohere2VisionFamily(files: FamilyFiles): ImageFamily {
  const token = imageToken(files);
  const tiles = createFittingProcessor(files.processing);
  // Python's class counts features by what others call the edge of a patch.
  const each = Math.trunc((firstNumber(files.processing, 'patch_size') ?? FEATURES) ** 2);
  const own = (files.config['vision_config'] ?? {}) as Json;
  const patches = Math.floor(tiles.height / (firstNumber(own, 'patch_size') ?? 16)) ** 2;
  const [before, after, end] = ['boi_token', 'eoi_token', 'img_line_break_token'].map((name) =>
    requireNamedToken(files.tokenizer, name),
  ) as [string, string, string];
  return {
    ...{ ...token, mostPatches: patches },
    layout: (size) => ({ patches, count: tiles.tilesOf(size) * each }),
    prepare: (image) => tiles.process(image).map((values) => () => pixelValues(values(), tiles)),
    expand: ({ count }) =>
      `${before}${`${token.placeholder.repeat(each)}${end}`.repeat(count / each)}${after}`,
  };
}
