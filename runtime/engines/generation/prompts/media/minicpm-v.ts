import { RunError } from '../../../../core/errors.js';
import {
  createSliceProcessor,
  type PatchedSlice,
  type SliceProcessor,
} from '../../../processors/image/minicpm.js';
import type { Edges } from '../../../processors/image/sizes.js';
import { firstNumber, type Json } from '../../../repository/model-folder.js';
import type { Tensors } from '../../../sessions/tensors.js';
import type { TextTokenizer } from '../../../tokenizers/tokenizer.js';
import type { FamilyFiles, ImageFamily } from './family.js';
import { requireNamedToken } from './named-token.js';

/** MiniCPM-V 4.6: images whole, and in slices behind it where they are large, each with its number. */
export const createMiniCpmVFamily = (files: FamilyFiles): ImageFamily =>
  slicesOf(files, { processor: 'MiniCPMV4_6ImageProcessor', mode: '16x' });

/** MiniCPM-OCR: the same with more features. */
export const createMiniCpmOcrFamily = (files: FamilyFiles): ImageFamily =>
  slicesOf(files, { processor: 'MiniCPMOcrImageProcessor', mode: '4x' });

interface Usual {
  processor: string;
  mode: string;
}

/** @throws RunError not_ready for files whose parts don't fit together: Python fails at each image */
function slicesOf({ config, processing, processor, tokenizer }: FamilyFiles, usual: Usual): ImageFamily {
  const slices = createSliceProcessor(processing, usual.processor);
  requireSameSizes(config, slices, usual.mode);
  const token = requireNamedToken(tokenizer, 'image_token');
  const tokenId = tokenizer.idOf(token)!;
  if (config['image_token_id'] !== tokenId)
    throw new RunError('not_ready', 'config.json: image_token_id is not image_token of the tokenizer');
  const marks = marksOf(tokenizer);
  const cell = slices.patch * slices.factor;
  const counted = ({ height, width }: Edges) => (height / cell) * (width / cell);
  const isNumbered = (processor['use_image_id'] ?? processing['use_image_id'] ?? true) !== false;
  const features = (count: number) => token.repeat(count);
  return {
    ...{ placeholder: token, tokenId, mostPatches: slices.mostPatches },
    foreign: [requireNamedToken(tokenizer, 'video_token')],
    layout(size) {
      const { whole, slices: parts } = slices.partsOf(size);
      const [first, each] = [counted(whole), parts ? counted(parts.edges) : 0];
      const { rows, columns } = parts ?? { rows: 0, columns: 0 };
      return {
        count: first + rows * columns * each,
        patches: Math.max(first, each) * slices.factor ** 2,
        ...(parts && { parts: { rows, columns, each } }),
      };
    },
    prepare: (image) => slices.process(image).map((slice) => () => inputs(slice())),
    expand(layout, all = [layout]) {
      const { count, parts } = layout;
      const { rows = 0, columns = 0, each = 0 } = parts ?? {};
      const line = `${marks.slice_start_token}${features(each)}${marks.slice_end_token}`.repeat(columns);
      const first = features(count - rows * columns * each);
      const number = `${marks.image_id_start_token}${all.indexOf(layout)}${marks.image_id_end_token}`;
      return (
        `${isNumbered ? number : ''}${marks.image_start_token}${first}${marks.image_end_token}` +
        Array.from({ length: rows }, () => line).join('\n')
      );
    },
  };
}

function inputs({ values, grid }: PatchedSlice): Tensors {
  const count = grid[0] * grid[1];
  return {
    pixel_values: { type: 'float32', data: values, dims: [1, count, values.length / count] },
    spatial_shapes: { type: 'int64', data: BigInt64Array.from(grid, BigInt), dims: [1, 2] },
  };
}

const MARKS = ['image_start_token', 'image_end_token', 'slice_start_token', 'slice_end_token'] as const;
const NUMBERS = ['image_id_start_token', 'image_id_end_token'] as const;

const marksOf = (tokenizer: TextTokenizer) =>
  Object.fromEntries(
    [...MARKS, ...NUMBERS].map((name) => [name, requireNamedToken(tokenizer, name)]),
  ) as Record<(typeof MARKS | typeof NUMBERS)[number], string>;

function requireSameSizes(config: Json, { patch, factor }: SliceProcessor, usual: string): void {
  const own = firstNumber((config['vision_config'] ?? {}) as Json, 'patch_size') ?? 16;
  const merged = (config['downsample_mode'] ?? usual) === '4x' ? 2 : 4;
  if (own === patch && merged === factor) return;
  throw new RunError(
    'not_ready',
    'preprocessor_config.json: patch_size and downsample_mode are not those of config.json',
  );
}
