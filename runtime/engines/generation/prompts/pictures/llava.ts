import { createImageProcessor } from '../../../processors/image/image-processor.js';
import type { FamilyFiles, PictureFamily } from './family.js';
import { pictureToken } from './picture-token.js';

/** LLaVA: one picture of one size, whose patches stand in a row. */
export function createLlavaFamily(files: FamilyFiles): PictureFamily {
  const token = pictureToken(files);
  const processor = createImageProcessor(files.processing);
  return {
    ...token,
    prepare(picture) {
      const { values, height, width } = processor.process(picture);
      return { feeds: { pixel_values: { type: 'float32', data: values, dims: [1, 3, height, width] } } };
    },
    expand: (count) => token.placeholder.repeat(count),
  };
}
