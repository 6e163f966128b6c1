import { createPixtralProcessor } from '../../../processors/image/pixtral.js';
import { firstNumber } from '../../../repository/model-folder.js';
import type { FamilyFiles, ImageFamily } from './family.js';
import { imageToken } from './image-token.js';
import { pixelValues } from './pixel-values.js';

/** Edges of patches, and of the squares of them that become one feature, where processor_config.json does not say. */
const [PATCH, MERGE] = [16, 1];

/** Pixtral and Mistral 3: images keep their form; lines of features end with a token, and so does the image. */
export function createPixtralFamily(files: FamilyFiles): ImageFamily {
  const { processor, processing } = files;
  const token = imageToken(files);
  const merge = firstNumber(processor, 'spatial_merge_size') ?? MERGE;
  const step = (firstNumber(processor, 'patch_size') ?? PATCH) * merge;
  const images = createPixtralProcessor(processing, step);
  const named = (name: string, usual: string) => (processor[name] as string | undefined) ?? usual;
  const [line, end] = [named('image_break_token', '[IMG_BREAK]'), named('image_end_token', '[IMG_END]')];
  return {
    ...{ ...token, mostPatches: images.mostCells * merge * merge },
    layout(size) {
      const { height, width } = images.sizeOf(size);
      const [rows, columns] = [height / step, width / step];
      const count = rows * columns;
      return { count, patches: count * merge * merge, parts: { rows, columns } };
    },
    prepare(image) {
      const { values, ...edges } = images.process(image);
      return [() => pixelValues(values, edges)];
    },
    expand({ parts }) {
      const { rows, columns } = parts!;
      const lines = Array.from({ length: rows }, () => token.placeholder.repeat(columns));
      return lines.join(line) + end;
    },
  };
}
