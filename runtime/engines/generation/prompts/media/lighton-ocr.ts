import { createPixtralProcessor } from '../../../processors/image/pixtral.js';
import { firstNumber, type Json } from '../../../repository/model-folder.js';
import type { FamilyFiles, ImageFamily } from './family.js';
import { imageToken } from './image-token.js';
import { pixelValues } from './pixel-values.js';

/** Edges of patches, and of the squares of them that become one feature, where the files do not say. */
const [PATCH, MERGE] = [14, 2];

/** LightOnOCR: images keep their form, up to whole patches; those that fill no square are seen, and become no feature. */
export function createLightOnOcrFamily(files: FamilyFiles): ImageFamily {
  const { processor, processing } = files;
  const token = imageToken(files);
  const merge = firstNumber(processor, 'spatial_merge_size') ?? MERGE;
  const patch = firstNumber(processor, 'patch_size') ?? PATCH;
  const own = processing['patch_size'] as Json | number | undefined;
  const cell = (typeof own === 'object' ? firstNumber(own, 'height') : own) ?? patch;
  const images = createPixtralProcessor(processing, cell);
  return {
    ...{ ...token, mostPatches: images.mostCells },
    layout(size) {
      const { height, width } = images.sizeOf(size);
      const squares = (edge: number) => Math.floor(edge / (patch * merge));
      return { count: squares(height) * squares(width), patches: (height / cell) * (width / cell) };
    },
    prepare(image) {
      const { values, ...edges } = images.process(image);
      return [() => pixelValues(values, edges)];
    },
    expand: ({ count }) => token.placeholder.repeat(count),
  };
}
