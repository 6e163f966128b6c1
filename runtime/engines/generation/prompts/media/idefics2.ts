import { RunError } from '../../../../core/errors.js';
import { createQuarterProcessor } from '../../../processors/image/idefics2.js';
import type { Edges } from '../../../processors/image/sizes.js';
import { firstNumber, type Json } from '../../../repository/model-folder.js';
import type { FamilyFiles, ImageFamily } from './family.js';
import { namedToken } from './named-token.js';
import { imageToken } from './image-token.js';
import { pixelValues } from './pixel-values.js';

/** Of each image, where the files don't say. */
const FEATURES = 64;
const PATCH = 32;
const AROUND = '<fake_token_around_image>';

/**
 * Idefics 2: images as quarters and whole, of each of which there is one number of features.
 * @throws RunError not_ready for files that name two numbers
 */
export function createIdefics2Family(files: FamilyFiles): ImageFamily {
  const { config, processor, tokenizer } = files;
  const token = imageToken(files);
  const quarters = createQuarterProcessor(files.processing);
  const part = (name: string) => (config[name] ?? {}) as Json;
  const each = firstNumber(part('perceiver_config'), 'resampler_n_latents') ?? FEATURES;
  const written = firstNumber(processor, 'image_seq_len') ?? FEATURES;
  if (each !== written)
    throw new RunError(
      'not_ready',
      `processor_config.json: image_seq_len is ${written}, and the model has ${each} features`,
    );
  const patch = firstNumber(part('vision_config'), 'patch_size') ?? PATCH;
  // The tokenizer may name the token otherwise.
  const around = namedToken(tokenizer, 'image_boundary_token') ?? AROUND;
  const patchesOf = ({ height, width }: Edges) => Math.floor(height / patch) * Math.floor(width / patch);
  const count = (quarters.splits ? 5 : 1) * each;
  const text = `${around}${token.placeholder.repeat(each)}${around}`;
  return {
    ...{ ...token, shared: around, mostPatches: Math.floor(quarters.longest / patch) ** 2 },
    layout(size) {
      const patches = quarters.partsOf(size).map(patchesOf);
      if (Math.min(...patches) === 0)
        throw new RunError('unprocessable', 'the image is smaller than a patch of this model');
      return { count, patches: Math.max(...patches) };
    },
    prepare(image) {
      const sizes = quarters.partsOf(image);
      return quarters.process(image).map((values, i) => () => pixelValues(values(), sizes[i]!));
    },
    expand: () => text.repeat(count / each),
  };
}
