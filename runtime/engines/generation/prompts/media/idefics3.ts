import { createTileProcessor } from '../../../processors/image/idefics3.js';
import { firstNumber, type Json } from '../../../repository/model-folder.js';
import type { Tensors } from '../../../sessions/tensors.js';
import { tokenText } from '../../../tokenizers/tokenizer-json.js';
import type { FamilyFiles, ImageFamily, MediumLayout } from './family.js';
import { imageToken } from './image-token.js';

/** Features of a square where processor_config.json does not say. */
const FEATURES = 169;
const PATCH = 32;

export interface Idefics3Family extends ImageFamily {
  /** Features of a square. */
  readonly each: number;
  /** Inputs of the vision encoder for one square. */
  inputs(square: Float32Array): Tensors;
}

/** Idefics3 and SmolVLM: large images are cut into squares, each with its row and column before it. */
export const createIdefics3Family = (files: FamilyFiles): Idefics3Family => squaresOf(files, MARKS);

/** SmolVLM: the tokenizer may name the tokens around squares otherwise. */
export const createSmolVlmFamily = (files: FamilyFiles): Idefics3Family =>
  squaresOf(files, namedMarks(files.tokenizer.config));

function squaresOf(files: FamilyFiles, marks: Marks): Idefics3Family {
  const { config, processing, processor } = files;
  const token = imageToken(files);
  const tiles = createTileProcessor(processing);
  const { edge } = tiles;
  const each = firstNumber(processor, 'image_seq_len') ?? FEATURES;
  const patch = firstNumber((config['vision_config'] ?? {}) as Json, 'patch_size') ?? PATCH;
  const patches = Math.floor(edge / patch) ** 2;
  // An image fills its squares. Each run takes the memory of what it is given.
  const mask = () => ({ type: 'bool', data: new Uint8Array(edge * edge).fill(1), dims: [1, 1, edge, edge] });
  const inputs = (square: Float32Array) => ({
    pixel_values: { type: 'float32', data: square, dims: [1, 1, 3, edge, edge] },
    pixel_attention_mask: mask(),
  });
  return {
    ...token,
    mostPatches: patches,
    layout(size) {
      const parts = tiles.partsOf(size);
      const squares = (parts ? parts.rows * parts.columns : 0) + 1;
      return { patches, count: squares * each, ...(parts ? { parts } : {}) };
    },
    inputs,
    each,
    prepare: (image) => tiles.process(image).map((square) => () => inputs(square())),
    expand: ({ parts }) => written(parts, { ...marks, features: token.placeholder.repeat(each) }),
  };
}

interface Marks {
  /** Before each square, and at the end. */
  around: string;
  /** Before the whole image. */
  whole: string;
}

const MARKS: Marks = { around: '<fake_token_around_image>', whole: '<global-img>' };

/** The tokens as SmolVLM's tokenizer names them. */
export function namedMarks(tokenizer: Json): Marks {
  const named = (name: string, usual: string) => {
    const own = (tokenizer['extra_special_tokens'] ?? {}) as Json;
    return tokenText(own[name]) || usual;
  };
  return {
    around: named('fake_image_token', MARKS.around),
    whole: named('global_image_token', MARKS.whole),
  };
}

/** A line of squares for each row, a blank line, and the whole image. */
function written(parts: MediumLayout['parts'], marks: Marks & { features: string }): string {
  const { around, whole, features } = marks;
  const end = `${around}${whole}${features}${around}`;
  if (!parts) return end;
  const row = (r: number) =>
    Array.from({ length: parts.columns }, (_, c) => `${around}<row_${r + 1}_col_${c + 1}>${features}`).join(
      '',
    );
  return `${Array.from({ length: parts.rows }, (_, r) => `${row(r)}\n`).join('')}\n${end}`;
}
