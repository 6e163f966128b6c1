import { RunError } from '../../../../core/errors.js';
import { createCellProcessor } from '../../../processors/image/hunyuan-vl.js';
import { firstNumber, type Json, textConfig } from '../../../repository/model-folder.js';
import type { PromptPositions } from '../../decoding/prompt.js';
import type { FamilyFiles, ImageFamily, PlacedMedium } from './family.js';
import { requireNamedToken } from './named-token.js';
import { pixelValues } from './pixel-values.js';

/** Where config.json names none. */
const TOKEN = 120_120;

/**
 * HunyuanOCR: images of any size between two marks, a feature behind each line, and one at both ends.
 * @throws RunError not_ready for files whose parts don't fit together: Python fails at each image
 */
export function createHunyuanVlFamily(files: FamilyFiles): ImageFamily {
  const { config, processing, processor, tokenizer } = files;
  const cells = createCellProcessor(processing);
  const [token, start, end] = ['image_token', 'image_start_token', 'image_end_token'].map((name) =>
    requireNamedToken(tokenizer, name),
  ) as [string, string, string];
  const tokenId = tokenizer.idOf(token)!;
  const vision = (config['vision_config'] ?? {}) as Json;
  const given = (name: string, usual: number) => firstNumber(vision, name) ?? usual;
  if ((config['image_token_id'] ?? TOKEN) !== tokenId)
    throw new RunError('not_ready', 'config.json: image_token_id is not image_token of the tokenizer');
  if (processor['cat_extra_token'] === false)
    throw new RunError('not_ready', 'processor_config.json: cat_extra_token must be true, as Python has it');
  const [patch, merge] = [given('patch_size', 16), given('spatial_merge_size', 2)];
  if (
    (firstNumber(processing, 'patch_size') ?? 16) !== patch ||
    (firstNumber(processing, 'merge_size') ?? 2) !== merge
  )
    throw new RunError(
      'not_ready',
      'preprocessor_config.json: patch_size and merge_size are not patch_size and spatial_merge_size of config.json',
    );
  const axes = axesOf(config);
  return {
    // Python wants these marks around each image.
    ...{ placeholder: `${start}${token}${end}`, foreign: [], tokenId, mostPatches: cells.mostPatches },
    layout(size) {
      const { rows, columns } = cells.gridOf(size);
      const [down, across] = [rows / merge, columns / merge];
      return { patches: rows * columns, count: down * (across + 1) + 2, grid: [1, down, across] };
    },
    prepare(image) {
      const { values, size } = cells.process(image);
      return [() => pixelValues(values, size)];
    },
    expand: ({ count }) => start + token.repeat(count) + end,
    positions: (length, media) => positionsBeside(length, media, axes),
  };
}

function axesOf(config: Json): number {
  const rope = (textConfig(config)['rope_scaling'] ?? {}) as Json;
  const sections = rope['mrope_section'] ?? rope['xdrope_section'];
  return Array.isArray(sections) ? sections.length : 0;
}

/**
 * Words and the two ends of an image stand at their place on all axes. On the last three axes features stand at their column,
 * their line and the number of their image. get_rope_index
 */
function positionsBeside(length: number, media: readonly PlacedMedium[], count: number): PromptPositions {
  const axes = Array.from({ length: count }, () => Array.from({ length }, (_, i) => i));
  const [across, down, numbers] = axes.slice(-3) as [number[], number[], number[]];
  media.forEach(({ start, grid }, number) => {
    const [, rows, columns] = grid!;
    for (let i = 0; i < rows * (columns + 1); i++) {
      const place = start + 1 + i;
      across[place] = i % (columns + 1);
      down[place] = Math.floor(i / (columns + 1));
      numbers[place] = number;
    }
  });
  const last = axes.reduce((most, axis) => axis.reduce((a, b) => Math.max(a, b), most), 0);
  return { axes, shift: last + 1 - length };
}
