import { RunError } from '../../../../core/errors.js';
import { type BarredProcessor, createBarredProcessor } from '../../../processors/image/deepseek-vl.js';
import { firstNumber, type Json } from '../../../repository/model-folder.js';
import type { FamilyFiles, ImageFamily } from './family.js';
import { imageToken } from './image-token.js';
import { pixelValues } from './pixel-values.js';

/** Tokens of an image where processor_config.json does not say. */
const FEATURES = 576;
/** Of SigLIP, where config.json does not say. */
const [EDGE, PATCH] = [224, 16];

/**
 * DeepSeek-VL: squares, with bars beside images that are none.
 * @throws RunError not_ready for files whose numbers don't fit together: Python fails at each image
 */
export function createDeepseekVlFamily(files: FamilyFiles): ImageFamily {
  const token = imageToken(files);
  const squares = squaresOf(files, { edge: EDGE, processor: createBarredProcessor(files.processing) });
  return { ...token, ...squares, expand: ({ count }) => token.placeholder.repeat(count) };
}

/** The layout of squares, all alike, and their runs. @throws RunError as `createDeepseekVlFamily` */
export function squaresOf(
  files: Pick<FamilyFiles, 'config' | 'processor'>,
  { edge: usual, processor: squares }: { edge: number; processor: BarredProcessor },
): Pick<ImageFamily, 'mostPatches' | 'layout' | 'prepare'> {
  const vision = (files.config['vision_config'] ?? {}) as Json;
  const edge = firstNumber(vision, 'image_size') ?? usual;
  const count = Math.floor(edge / (firstNumber(vision, 'patch_size') ?? PATCH)) ** 2;
  const written = firstNumber(files.processor, 'num_image_tokens') ?? FEATURES;
  if (squares.edge !== edge)
    throw new RunError('not_ready', 'preprocessor_config.json: size is not image_size of config.json');
  if (written !== count)
    throw new RunError(
      'not_ready',
      `processor_config.json: num_image_tokens is ${written}, and an image has ${count} features`,
    );
  const layout = { count, patches: count };
  return {
    mostPatches: count,
    layout: () => layout,
    prepare(image) {
      const values = squares.process(image);
      return [() => pixelValues(values, { height: edge, width: edge })];
    },
  };
}
