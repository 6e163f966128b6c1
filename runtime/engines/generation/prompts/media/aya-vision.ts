import { createCanvasProcessor } from '../../../processors/image/got-ocr2.js';
import { firstNumber, type Json } from '../../../repository/model-folder.js';
import type { FamilyFiles, ImageFamily } from './family.js';
import { imageToken } from './image-token.js';
import { pixelValues } from './pixel-values.js';

/** Edges of tiles and of patches where processor_config.json does not say, and how many of these become one along an edge. */
const [EDGE, PATCH, JOINED] = [364, 28, 1];

/** Aya Vision: images are cut into tiles, each behind its number. */
export function createAyaVisionFamily(files: FamilyFiles): ImageFamily {
  const { processor, config } = files;
  const { tokenId, placeholder: patch } = imageToken(files);
  const tiles = createCanvasProcessor(files.processing);
  const number = (name: string, usual: number) => firstNumber(processor, name) ?? usual;
  const named = (name: string, usual: string) => (processor[name] as string | undefined) ?? usual;
  const step = number('patch_size', PATCH) * number('downsample_factor', JOINED);
  const each = Math.floor(number('img_size', EDGE) / step) ** 2;
  const own = (config['vision_config'] ?? {}) as Json;
  const patches = Math.floor(tiles.height / (firstNumber(own, 'patch_size') ?? 14)) ** 2;
  const [before, after] = [
    named('start_of_img_token', '<|START_OF_IMG|>'),
    named('end_of_img_token', '<|END_OF_IMG|>'),
  ];
  const [tile, whole] = [named('tile_token', 'TILE'), named('tile_global_token', 'TILE_GLOBAL')];
  return {
    // Python's processor looks for this text, whatever its settings say.
    ...{ placeholder: '<image>', tokenId, mostPatches: patches },
    layout: (size) => ({ patches, count: tiles.tilesOf(size) * each }),
    prepare: (image) => tiles.process(image).map((values) => () => pixelValues(values(), tiles)),
    expand({ count }) {
      const features = patch.repeat(each);
      const parts = Array.from({ length: count / each - 1 }, (_, i) => `${tile}_${i + 1}${features}`);
      return `${before}${parts.join('')}${whole}${features}${after}`;
    },
  };
}
