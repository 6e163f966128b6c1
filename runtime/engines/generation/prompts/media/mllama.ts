import { RunError } from '../../../../core/errors.js';
import { createTiledCanvas } from '../../../processors/image/mllama.js';
import { firstNumber, type Json } from '../../../repository/model-folder.js';
import { tokenText } from '../../../tokenizers/tokenizer-json.js';
import type { SeenImages } from '../../decoding/prompt.js';
import type { FamilyFiles, ImageFamily } from './family.js';
import { namedToken } from './named-token.js';

const IMAGE = '<|image|>';
const TILES = 4;

/**
 * Llama 3.2 Vision: images stand beside the text, and have one token in it.
 * @throws RunError not_ready for files whose parts name different tokens or sizes
 */
export function createMllamaFamily({ config, processing, tokenizer }: FamilyFiles): ImageFamily {
  const tiles = createTiledCanvas(processing);
  const most = tiles.canvases.at(-1)!.rows;
  const patches = patchesOf(config, { edge: tiles.edge, most, canvases: tiles.canvases.length });
  const placeholder = namedToken(tokenizer, 'image_token') ?? IMAGE;
  const tokenId = tokenizer.idOf(placeholder);
  const bos = tokenText(tokenizer.config['bos_token']);
  if (tokenId === undefined || bos === '')
    throw new RunError(
      'not_ready',
      `the tokenizer has no ${placeholder}, or no bos_token, which Python looks for`,
    );
  return {
    ...{ placeholder, tokenId, mostPatches: most * patches },
    layout: (size) => ({ patches: most * patches, count: 1, parts: tiles.canvasOf(size) }),
    prepare(image) {
      const { rows, columns } = tiles.canvasOf(image);
      const id = 1 + tiles.canvases.findIndex((one) => one.rows === rows && one.columns === columns);
      const mask = BigInt64Array.from({ length: most }, (_, i) => (i < rows * columns ? 1n : 0n));
      return [
        () => ({
          pixel_values: {
            ...{ type: 'float32', data: tiles.process(image) },
            dims: [most, 3, tiles.edge, tiles.edge],
          },
          aspect_ratio_ids: { type: 'int64', data: BigInt64Array.of(BigInt(id)), dims: [1] },
          aspect_ratio_mask: { type: 'int64', data: mask, dims: [1, most] },
        }),
      ];
    },
    expand: () => placeholder,
    begin: (text) => withStart(text, bos, placeholder),
    look: (tokens, media) =>
      seenBy(tokens, tokenId, {
        states: most * patches,
        ownStates: media.map(({ parts }) => parts!.rows * parts!.columns * patches),
      }),
  };
}

/** build_string_from_input */
function withStart(text: string, bos: string, image: string): string {
  if (text.includes(bos)) return text;
  let images = 0;
  while (text.startsWith(image, images * image.length)) images++;
  const first = image.repeat(images);
  return first + bos + text.slice(first.length);
}

/**
 * From its token on an image is seen until the next one comes; those that follow one another are seen as long as the last of
 * them. get_cross_attention_token_mask
 * @param states of each image @param ownStates without those of tiles that are filled up
 */
function seenBy(
  tokens: readonly number[],
  tokenId: number,
  { states, ownStates }: { states: number; ownStates: readonly number[] },
): SeenImages['seen'] {
  const starts = tokens.flatMap((token, i) => (token === tokenId ? [i] : []));
  const ends = starts.map((_, i) => starts[i + 1] ?? tokens.length);
  for (let i = ends.length - 2; i >= 0; i--) if (ends[i] === starts[i]! + 1) ends[i] = ends[i + 1]!;
  return tokens.map((_, place) =>
    ownStates.flatMap((own, i) =>
      place >= starts[i]! && place < ends[i]! ? [[i * states, i * states + own] as const] : [],
    ),
  );
}

/** Patches of a tile. @throws RunError not_ready where the processor's tiles are not those of the network */
function patchesOf(
  config: Json,
  { edge, most, canvases }: { edge: number; most: number; canvases: number },
): number {
  const own = (config['vision_config'] ?? {}) as Json;
  const ratios = own['supported_aspect_ratios'];
  const known = Array.isArray(ratios) ? ratios.length : 8;
  if (
    (firstNumber(own, 'image_size') ?? 448) !== edge ||
    (firstNumber(own, 'max_num_tiles') ?? TILES) !== most ||
    known < canvases
  )
    throw new RunError(
      'not_ready',
      'preprocessor_config.json: size and max_image_tiles are not image_size, max_num_tiles and supported_aspect_ratios of config.json',
    );
  return Math.floor(edge / (firstNumber(own, 'patch_size') ?? 14)) ** 2 + 1;
}
