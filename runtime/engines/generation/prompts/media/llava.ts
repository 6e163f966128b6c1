import { createImageProcessor, type ImageProcessor } from '../../../processors/image/image-processor.js';
import type { Edges } from '../../../processors/image/sizes.js';
import { firstNumber, type Json } from '../../../repository/model-folder.js';
import type { FamilyFiles, ImageFamily } from './family.js';
import { imageToken } from './image-token.js';
import { pixelValues } from './pixel-values.js';

/**
 * LLaVA: images of one size, whose patches stand in a row.
 * @param added tokens beside those of patches
 */
export function createLlavaFamily(files: FamilyFiles, added = addedTokens(files, 1)): ImageFamily {
  const token = imageToken(files);
  const processor = createImageProcessor(files.processing);
  const { height, width } = sizeOfAll(processor);
  const patch = patchSize(files);
  const patches = Math.floor(height / patch) * Math.floor(width / patch);
  const layout = { count: patches + added, patches: patches + 1 };
  return {
    ...token,
    mostPatches: layout.patches,
    layout: () => layout,
    prepare(image) {
      const { values, ...edges } = processor.process(image);
      return [() => pixelValues(values, edges)];
    },
    expand: ({ count }) => token.placeholder.repeat(count),
  };
}

const SAMPLE = 32;

/** Of a processor that gives all images one size. */
export const sizeOfAll = (processor: ImageProcessor): Edges =>
  processor.process({
    ...{ data: new Uint8Array(SAMPLE * SAMPLE * 3), width: SAMPLE, height: SAMPLE, channels: 3 },
  });

const visionOf = (config: Json): Json => (config['vision_config'] ?? {}) as Json;

/** CLIP's default. */
const PATCH = 14;

function patchSize({ processor, config }: FamilyFiles): number {
  return firstNumber(processor, 'patch_size') ?? firstNumber(visionOf(config), 'patch_size') ?? PATCH;
}

/** LLaVA over SigLIP, which has no class token. */
export const createLlavaSiglipFamily = (files: FamilyFiles): ImageFamily =>
  createLlavaFamily(files, addedTokens(files, 0));

/**
 * Tokens beside those of patches: LlavaProcessor's rule, or, for a repository from before it, what the model does. `default`
 * leaves the class token out.
 * @param classes tokens of the encoder beside those of patches
 */
function addedTokens({ processor, config }: FamilyFiles, classes: number): number {
  const known = firstNumber(processor, 'patch_size') !== undefined;
  const added = known ? (firstNumber(processor, 'num_additional_image_tokens') ?? 0) : classes;
  const source = known ? processor : config;
  const strategy = source['vision_feature_select_strategy'] ?? (known ? undefined : 'default');
  return added - (strategy === 'default' ? 1 : 0);
}
