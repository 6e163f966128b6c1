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

/** What sizes of Gemma 4 differ in. */
interface Kind {
  /** Field of `vision_config` for the lines and columns that have vectors, and what Python takes without it. */
  positions: readonly [name: string, otherwise: number];
  /** Patches are as large as features. */
  whole: boolean;
  /** What `use_bidirectional_attention` is where a file doesn't say it. */
  ahead: 'vision' | null;
}

/**
 * Gemma 4: images of any proportions, pooled to a number of features by their form, each between two tokens.
 * @throws RunError not_ready for files whose parts name different tokens or sizes
 */
const familyOf =
  (kind: Kind) =>
  ({ config, processing, tokenizer }: FamilyFiles): ImageFamily => {
    const images = createSoftTokenImages(processing, kind);
    requireSameSizes(config, images);
    const positions = firstNumber((config['vision_config'] ?? {}) as Json, kind.positions[0]);
    const most = positions ?? kind.positions[1];
    const { image: placeholder, tokenId, before, after, foreign } = tokensOf(config, tokenizer);
    const text = (config['text_config'] ?? {}) as Json;
    const { use_bidirectional_attention: ahead = kind.ahead } = text;
    const { mostPatches, pooled } = images;
    return {
      ...{ placeholder, tokenId, mostPatches, foreign },
      ...(ahead === 'vision' && { ahead: 'medium' as const }),
      layout(size) {
        const [lines, columns] = images.gridOf(size);
        if (Math.max(lines, columns) > most)
          throw new RunError('unprocessable', `the image becomes more than ${most} patches long`);
        return { count: (lines / pooled) * (columns / pooled), patches: lines * columns };
      },
      prepare: (image) => [() => inputs(images.process(image))],
      expand: ({ count }) => `${before}${placeholder.repeat(count)}${after}`,
    };
  };

export const createGemma4Family = familyOf({
  ...{ positions: ['position_embedding_size', 10_240], whole: false, ahead: null },
});

/** The same without an encoder. Gemma4UnifiedProcessor */
export const createGemma4UnifiedFamily = familyOf({
  ...{ positions: ['mm_posemb_size', 1120], whole: true, ahead: 'vision' },
});

/** Tokens of an image: its place, what stands before and behind it, and those of media that are not read. */
function tokensOf(config: Json, tokenizer: FamilyFiles['tokenizer']) {
  const tokenId = firstNumber(config, 'image_token_id') ?? IMAGE_TOKEN;
  const named = (name: string) => requireNamedToken(tokenizer, name);
  const image = named('image_token');
  if (tokenizer.idOf(image) !== tokenId)
    throw refused(`image_token is ${image}, which config.json has another id for (${tokenId})`);
  const [before, after, audio] = [named('boi_token'), named('eoi_token'), named('audio_token')];
  return { image, tokenId, before, after, foreign: [audio, CLIP] };
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
