import { RunError } from '../../../../core/errors.js';
import { DEEPSEEK_OCR2 } from '../../../../hub-config/image-edges.js';
import { createDeepseekOcr2Processor } from '../../../processors/image/deepseek-ocr2.js';
import { firstNumber } from '../../../repository/model-folder.js';
import type { TensorLike } from '../../../sessions/tensors.js';
import { requireImageToken } from './cells.js';
import type { FamilyFiles, ImageFamily } from './family.js';
import { imageToken } from './image-token.js';
import { pixelValues } from './pixel-values.js';

const { edge: EDGE, tile: TILE } = DEEPSEEK_OCR2;
/** Features of a whole image and of a tile, and what ends an image. */
const [WHOLE, OF_TILE, END] = [256, 144, 1];
/** Of its first tower. */
const PATCH = 16;

/**
 * DeepSeek-OCR 2: tiles of an image, then the whole one, then a learned vector.
 * @throws RunError not_ready where the files disagree: Python fails at each image
 */
export function createDeepseekOcr2Family(files: FamilyFiles): ImageFamily {
  const { processing, processor, tokenizer } = files;
  const token = imageToken(files);
  requireImageToken(tokenizer, token.placeholder, '<image>');
  const cell =
    (firstNumber(processor, 'patch_size') ?? PATCH) * (firstNumber(processor, 'downsample_ratio') ?? 4);
  if (Math.ceil(EDGE / cell) ** 2 !== WHOLE || Math.ceil(TILE / cell) ** 2 !== OF_TILE)
    throw new RunError(
      'not_ready',
      'processor_config.json: patch_size and downsample_ratio are not the model’s',
    );
  const { tilesOf, whole, tiles } = createDeepseekOcr2Processor(processing);
  return {
    ...{ ...token, mostPatches: (EDGE / PATCH) ** 2 },
    layout: (size) => ({ count: tilesOf(size) * OF_TILE + WHOLE + END, patches: (EDGE / PATCH) ** 2 }),
    prepare: (image) => [
      () => ({
        ...pixelValues(whole(image), { height: EDGE, width: EDGE }),
        pixel_values_local: tensorOf(tiles(image)),
      }),
    ],
    // The graph reads one tile at least.
    arrange: (features, size) => (tilesOf(size) > 0 ? features : withoutFirst(features, OF_TILE)),
    expand: ({ count }) => token.placeholder.repeat(count),
  };
}

function tensorOf(values: Float32Array): TensorLike {
  const one = 3 * TILE * TILE;
  const data = values.length > 0 ? values : new Float32Array(one);
  return { type: 'float32', data, dims: [data.length / one, 3, TILE, TILE] };
}

function withoutFirst({ type, data, dims }: TensorLike, count: number): TensorLike {
  const [rows, width] = dims as [number, number];
  return { type, data: (data as Float32Array).slice(count * width), dims: [rows - count, width] };
}
