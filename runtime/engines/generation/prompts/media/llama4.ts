import { RunError } from '../../../../core/errors.js';
import { createPaddedTiles } from '../../../processors/image/llama4.js';
import { firstNumber, type Json } from '../../../repository/model-folder.js';
import type { FamilyFiles, ImageFamily } from './family.js';
import { pixelValues } from './pixel-values.js';

/** Of config.json, where it names none. */
const PATCH_TOKEN = 200_092;

const IMAGE = '<|image|>';
const PATCH = '<|patch|>';

/**
 * Llama 4: images are cut into tiles, row by row, with the whole image at the end where there are several.
 * @throws RunError not_ready for files whose parts name different tokens or sizes
 */
export function createLlama4Family(files: FamilyFiles): ImageFamily {
  const { config, processor, processing, tokenizer } = files;
  const tiles = createPaddedTiles(processing);
  const tokenId = firstNumber(config, 'image_token_index', 'image_token_id') ?? PATCH_TOKEN;
  if ((processor['image_token'] ?? IMAGE) !== IMAGE || tokenizer.idOf(PATCH) !== tokenId)
    throw new RunError(
      'not_ready',
      `the tokens of images are not ${IMAGE} and ${PATCH}, which Python writes`,
    );
  const { each, patches } = featuresOf(files, tiles.edge);
  const features = PATCH.repeat(each);
  const square = { height: tiles.edge, width: tiles.edge };
  return {
    ...{ placeholder: IMAGE, tokenId, mostPatches: patches },
    layout(size) {
      const parts = tiles.canvasOf(size);
      const cut = parts.rows * parts.columns;
      return { patches, count: (cut > 1 ? cut + 1 : 1) * each, ...(cut > 1 && { parts }) };
    },
    prepare: (image) => tiles.process(image).map((values) => () => pixelValues(values(), square)),
    expand({ parts = { rows: 0, columns: 0 } }) {
      const row = `${Array.from({ length: parts.columns }, () => features).join('<|tile_x_separator|>')}<|tile_y_separator|>`;
      return `<|image_start|>${row.repeat(parts.rows)}${IMAGE}${features}<|image_end|>`;
    },
  };
}

/** Features and patches of a tile. @throws RunError not_ready where the processor's are not those of the network */
function featuresOf({ config, processor }: FamilyFiles, edge: number): { each: number; patches: number } {
  const own = (config['vision_config'] ?? {}) as Json;
  const joined = (ratio: number) => Math.round(1 / ratio ** 2);
  const side = Math.floor(edge / (firstNumber(own, 'patch_size') ?? 14));
  const network = Math.floor(side ** 2 / joined(firstNumber(own, 'pixel_shuffle_ratio') ?? 0.5));
  const lines = Math.floor(edge / (firstNumber(processor, 'patch_size') ?? 14));
  const each = Math.floor(lines ** 2 / joined(firstNumber(processor, 'pixel_shuffle_ratio') ?? 0.5));
  if (each === network && (firstNumber(own, 'image_size') ?? 448) === edge)
    return { each, patches: side ** 2 + 1 };
  throw new RunError(
    'not_ready',
    'processor_config.json: patch_size, pixel_shuffle_ratio and the size of tiles are not those of config.json',
  );
}
