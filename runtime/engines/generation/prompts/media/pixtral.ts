import { createPixtralProcessor } from '../../../processors/image/pixtral.js';
import { firstNumber } from '../../../repository/model-folder.js';
import type { FamilyFiles, PictureFamily } from './family.js';
import { pictureToken } from './picture-token.js';
import { pixelValues } from './pixel-values.js';

/** Edges of patches, and of the squares of them that become one feature, where processor_config.json does not say. */
const [PATCH, MERGE] = [16, 1];

/** Pixtral and Mistral 3: pictures keep their form; lines of features end with a token, and so does the picture. */
export function createPixtralFamily(files: FamilyFiles): PictureFamily {
  const { processor, processing } = files;
  const token = pictureToken(files);
  const merge = firstNumber(processor, 'spatial_merge_size') ?? MERGE;
  const step = (firstNumber(processor, 'patch_size') ?? PATCH) * merge;
  const pictures = createPixtralProcessor(processing, step);
  const named = (name: string, usual: string) => (processor[name] as string | undefined) ?? usual;
  const [line, end] = [named('image_break_token', '[IMG_BREAK]'), named('image_end_token', '[IMG_END]')];
  return {
    ...{ ...token, mostPatches: pictures.mostCells * merge * merge },
    layout(size) {
      const { height, width } = pictures.sizeOf(size);
      const [rows, columns] = [height / step, width / step];
      const count = rows * columns;
      return { count, patches: count * merge * merge, parts: { rows, columns } };
    },
    prepare(picture) {
      const { values, ...edges } = pictures.process(picture);
      return [() => pixelValues(values, edges)];
    },
    expand({ parts }) {
      const { rows, columns } = parts!;
      const lines = Array.from({ length: rows }, () => token.placeholder.repeat(columns));
      return lines.join(line) + end;
    },
  };
}
