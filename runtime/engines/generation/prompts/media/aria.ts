import { RunError } from '../../../../core/errors.js';
import { createAriaProcessor } from '../../../processors/image/aria.js';
import type { Edges } from '../../../processors/image/sizes.js';
import { firstNumber, type Json } from '../../../repository/model-folder.js';
import type { TensorLike } from '../../../sessions/tensors.js';
import { requireImageToken } from './cells.js';
import type { FamilyFiles, ImageFamily } from './family.js';
import { imageToken } from './image-token.js';
import { pixelValues } from './pixel-values.js';

/** Where config.json does not say: tokens of an image by its patches; by its edge where the processor's file does not. */
const [QUERIES, TOKENS] = [
  { 1225: 128, 4900: 256 },
  { 490: 128, 980: 256 },
];
/** Of Idefics 3's tower. */
const PATCH = 32;

/**
 * Aria: images on a square, which say what of it they cover; each has as many features as its square has queries.
 * @throws RunError not_ready where the files name two numbers, or two tokens: Python fails at each image
 */
export function createAriaFamily(files: FamilyFiles): ImageFamily {
  const { config, processor, tokenizer } = files;
  const token = imageToken(files);
  const { edge, sizeOf, process } = createAriaProcessor(files.processing);
  requireImageToken(tokenizer, token.placeholder);
  const vision = (config['vision_config'] ?? {}) as Json;
  const patches = Math.floor(edge / (firstNumber(vision, 'patch_size') ?? PATCH)) ** 2;
  const count = firstNumber((config['projector_patch_to_query_dict'] ?? QUERIES) as Json, String(patches));
  const written = firstNumber((processor['size_conversion'] ?? TOKENS) as Json, String(edge));
  if (count === undefined || count !== written)
    throw new RunError(
      'not_ready',
      `processor_config.json: size_conversion of ${edge} is ${written}, and the model has ${count} features`,
    );
  return {
    ...{ ...token, mostPatches: patches },
    layout(size) {
      sizeOf(size);
      return { count, patches };
    },
    prepare: (image) => [
      () => ({
        ...pixelValues(process(image), { height: edge, width: edge }),
        pixel_mask: cornerMask(edge, sizeOf(image)),
      }),
    ],
    expand: () => token.placeholder.repeat(count),
  };
}

/** True where an image covers its square. */
function cornerMask(edge: number, { height, width }: Edges): TensorLike {
  const data = new Uint8Array(edge * edge);
  for (let y = 0; y < height; y++) data.fill(1, y * edge, y * edge + width);
  return { type: 'bool', data, dims: [1, edge, edge] };
}
