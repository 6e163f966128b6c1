import { RunError } from '../../../../core/errors.js';
import { createNaflexTiles, type NaflexTiles, type PatchedTile } from '../../../processors/image/lfm2-vl.js';
import { firstNumber, type Json } from '../../../repository/model-folder.js';
import type { Tensors } from '../../../sessions/tensors.js';
import { tokenText } from '../../../tokenizers/tokenizer-json.js';
import type { FamilyFiles, ImageFamily } from './family.js';
import { imageToken } from './image-token.js';

/** LFM2-VL: large images are cut into tiles, each behind its row and column, with the whole image at the end. */
export function createLfm2VlFamily(files: FamilyFiles): ImageFamily {
  const token = imageToken(files);
  const tiles = createNaflexTiles(files.processing);
  requireSameSizes(files.config, tiles);
  const { patch, factor, edge, mostPatches } = tiles;
  const cell = patch * factor;
  const each = (edge / cell) ** 2;
  const marks = marksOf(files.tokenizer.config);
  const features = (count: number) => token.placeholder.repeat(count);
  return {
    ...{ ...token, mostPatches },
    layout(size) {
      const { rows, columns, whole, readsWhole } = tiles.partsOf(size);
      const last = readsWhole ? (whole.height / cell) * (whole.width / cell) : 0;
      const isCut = rows * columns > 1 || !readsWhole;
      const count = (isCut ? rows * columns * each : 0) + last;
      const patches = Math.max(isCut ? each : 0, last) * factor ** 2;
      return { count, patches, ...(rows * columns > 1 && { parts: { rows, columns } }) };
    },
    prepare: (image) => tiles.process(image).map((tile) => () => inputs(tile())),
    expand({ count, parts }) {
      const { start, end, thumbnail, before } = marks;
      if (!parts) return `${start}${features(count)}${end}`;
      const { rows, columns } = parts;
      const cut = Array.from({ length: rows * columns }, (_, i) => {
        return `${before(Math.floor(i / columns) + 1, (i % columns) + 1)}${features(each)}`;
      });
      const last = count - rows * columns * each;
      return `${start}${cut.join('')}${last > 0 ? `${thumbnail}${features(last)}` : ''}${end}`;
    },
  };
}

function inputs({ values, grid }: PatchedTile): Tensors {
  const count = grid[0] * grid[1];
  return {
    pixel_values: { type: 'float32', data: values, dims: [1, count, values.length / count] },
    spatial_shapes: { type: 'int64', data: BigInt64Array.from(grid, BigInt), dims: [1, 2] },
  };
}

/** @throws RunError not_ready where the processor's patches are not those of the network: Python fails at each image */
function requireSameSizes(config: Json, { patch, factor }: NaflexTiles): void {
  const own = firstNumber((config['vision_config'] ?? {}) as Json, 'patch_size') ?? 16;
  const joined = firstNumber(config, 'downsample_factor') ?? 2;
  if (own === patch && joined === factor) return;
  throw new RunError(
    'not_ready',
    'preprocessor_config.json: encoder_patch_size and downsample_factor are not those of config.json',
  );
}

interface Marks {
  start: string;
  end: string;
  thumbnail: string;
  before(row: number, column: number): string;
}

/** The tokens as the tokenizer names them; none where its settings leave them out. */
function marksOf(tokenizer: Json): Marks {
  if (tokenizer['use_image_special_tokens'] === false)
    return { start: '', end: '', thumbnail: '', before: () => '' };
  const own = (tokenizer['extra_special_tokens'] ?? {}) as Json;
  const named = (name: string, usual: string) => tokenText(own[name]) || tokenText(tokenizer[name]) || usual;
  return {
    start: named('image_start_token', '<|image_start|>'),
    end: named('image_end_token', '<|image_end|>'),
    thumbnail: named('image_thumbnail_token', '<|img_thumbnail|>'),
    before: (row, column) => `<|img_row_${row}_col_${column}|>`,
  };
}
