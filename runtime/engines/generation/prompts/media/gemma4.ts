import { RunError } from '../../../../core/errors.js';
import {
  createSoftTokenImages,
  type PatchedImage,
  type SoftTokenImages,
} from '../../../processors/image/gemma4.js';
import { firstNumber, type Json } from '../../../repository/model-folder.js';
import type { Tensors } from '../../../sessions/tensors.js';
import type { FamilyFiles, ImageFamily } from './family.js';
import { requireNamedToken } from './named-token.js';

/** The processor's for videos. */
const CLIP = '<|video|>';
/** Python's for files that don't name it. */
const IMAGE_TOKEN = 258_880;

/**
 * Gemma 4: images of any proportions, pooled to a number of features by their form, each between two tokens.
 * @throws RunError not_ready for files whose parts name different tokens or sizes
 */
export function createGemma4Family({ config, processing, tokenizer }: FamilyFiles): ImageFamily {
  const images = createSoftTokenImages(processing);
  requireSameSizes(config, images);
  const vision = (config['vision_config'] ?? {}) as Json;
  const positions = firstNumber(vision, 'position_embedding_size') ?? 10_240;
  const tokenId = firstNumber(config, 'image_token_id') ?? IMAGE_TOKEN;
  const named = (name: string) => requireNamedToken(tokenizer, name);
  const placeholder = named('image_token');
  if (tokenizer.idOf(placeholder) !== tokenId)
    throw refused(`image_token is ${placeholder}, which config.json has another id for (${tokenId})`);
  const [before, after, audio] = ['boi_token', 'eoi_token', 'audio_token'].map(named) as [
    ...[string, string, string],
  ];
  const { mostPatches, factor } = images;
  const text = (config['text_config'] ?? {}) as Json;
  return {
    ...{ placeholder, tokenId, mostPatches, foreign: [audio, CLIP] },
    ...(text['use_bidirectional_attention'] === 'vision' && { ahead: 'medium' as const }),
    layout(size) {
      const [lines, columns] = images.gridOf(size);
      if (Math.max(lines, columns) > positions)
        throw new RunError('unprocessable', `the picture becomes more than ${positions} patches long`);
      return { count: (lines / factor) * (columns / factor), patches: lines * columns };
    },
    prepare: (image) => [() => inputs(images.process(image))],
    expand: ({ count }) => `${before}${placeholder.repeat(count)}${after}`,
  };
}

function inputs({ values, grid }: PatchedImage): Tensors {
  const count = grid[0] * grid[1];
  return {
    pixel_values: { type: 'float32', data: values, dims: [1, count, values.length / count] },
    spatial_shapes: { type: 'int64', data: BigInt64Array.from(grid, BigInt), dims: [1, 2] },
  };
}

/** @throws RunError not_ready where the processor's patches are not those of the network: Python fails at each image */
function requireSameSizes(config: Json, { patch, factor }: SoftTokenImages): void {
  const vision = (config['vision_config'] ?? {}) as Json;
  const own = firstNumber(vision, 'patch_size') ?? 16;
  const pooled = firstNumber(vision, 'pooling_kernel_size') ?? 3;
  if (own === patch && pooled === factor) return;
  throw new RunError(
    'not_ready',
    'preprocessor_config.json: patch_size and pooling_kernel_size are not those of config.json',
  );
}

const refused = (what: string): RunError => new RunError('not_ready', `tokenizer_config.json: ${what}`);
