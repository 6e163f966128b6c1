import * as z from 'zod';
import { llamaConfig, llamaSizes, usualSizes } from '../../bases/decoder/llama-config.js';
import type { LlamaLike } from '../../bases/decoder/llama-decoder.js';
import { channels } from '../../bases/vision/vit-config.js';
import { epsilon, layers, size } from '../../config-fields.js';
import { headWidth } from '../../layers/head-sizes.js';

const edge = z.int().min(1).max(4096);
const layer = z.int().min(0).max(1024);
const tiles = z.int().min(1).max(64);

/** What Python takes for lists that are left out, or null. */
const BETWEEN = [3, 7, 15, 23, 30];
const RATIOS = [1, 2, 3, 4].flatMap((rows) =>
  [1, 2, 3, 4].flatMap((columns) =>
    rows * columns <= 4 ? [[rows, columns] satisfies [number, number]] : [],
  ),
);
const CROSS = [3, 8, 13, 18, 23, 28, 33, 38];

export const visionConfig = z.object({
  ...{ hidden_size: size.default(1280), intermediate_size: size.default(5120) },
  ...{ num_hidden_layers: layers.default(32), num_global_layers: layers.default(8) },
  ...{ attention_heads: size.default(16), num_channels: channels, hidden_act: z.string().default('gelu') },
  ...{ image_size: edge.default(448), patch_size: edge.default(14), norm_eps: epsilon.default(1e-5) },
  ...{ vision_output_dim: size.default(7680), max_num_tiles: tiles.default(4) },
  intermediate_layers_indices: z.array(layer).nullable().default(BETWEEN),
  supported_aspect_ratios: z
    .array(z.tuple([tiles, tiles]))
    .nullable()
    .default(RATIOS),
});
export type Vision = z.output<typeof visionConfig>;

/** Patches of a tile, with its class. */
export const patchesOf = (c: Pick<Vision, 'image_size' | 'patch_size'>): number =>
  Math.floor(c.image_size / c.patch_size) ** 2 + 1;

export const textConfig = z
  .object({
    ...llamaConfig,
    ...usualSizes({ vocabulary: 128_256, width: 4096, inner: 14_336, layers: 40, heads: 32 }),
    num_key_value_heads: size.default(8),
    ...{ rms_norm_eps: epsilon.default(1e-5), rope_theta: z.number().positive().default(500_000) },
    max_position_embeddings: size.default(131_072),
    tie_word_embeddings: z
      .literal(false, 'is not known: the table of tokens has eight rows more than the scores')
      .default(false),
    cross_attention_layers: z
      .array(layer.min(1, 'is not known for the first layer, whose cache Python takes for that of the text'))
      .nullable()
      .default(CROSS),
    pad_token_id: z.int().nullable().default(128_004),
  })
  .refine(
    (c) => (c.head_dim ?? c.hidden_size / c.num_attention_heads) * c.num_attention_heads === c.hidden_size,
    {
      ...{ message: 'is not that of hidden_size and num_attention_heads', path: ['head_dim'] },
    },
  );
export type Text = z.output<typeof textConfig>;

/** The sizes of its decoder, whose projections have no bias. */
export const textSizes = (c: Text): LlamaLike => ({
  ...llamaSizes(c),
  headWidth: headWidth(c.hidden_size, c.num_attention_heads),
  bias: {},
});

/** Tokens beyond those that have scores; the image's is the first of them. */
export const MORE_TOKENS = 8;

export const betweenOf = (c: Vision): readonly number[] => c.intermediate_layers_indices ?? BETWEEN;
/** How many forms of images have vectors of their own; which ones, the processor says. */
export const ratiosOf = (c: Vision): number => (c.supported_aspect_ratios ?? RATIOS).length;
export const crossLayersOf = (c: Text): readonly number[] => c.cross_attention_layers ?? CROSS;

/** Layers that keep keys of the text. */
export const textLayersOf = (c: Text): number =>
  c.num_hidden_layers - crossLayersOf(c).filter((each) => each < c.num_hidden_layers).length;
