import * as z from 'zod';
import { epsilon, layers, size } from '../../config-fields.js';
import { channels } from '../../bases/vision/vit-config.js';

export const edge = z
  .int()
  .min(1)
  .max(2 ** 14);

/** Fields of the encoder of images. */
export const imageFields = z.object({
  hidden_size: size.default(768),
  output_channels: size.default(256),
  num_hidden_layers: layers.default(12),
  num_attention_heads: size.default(12),
  num_channels: channels,
  image_size: edge.default(1024),
  patch_size: edge.default(16),
  hidden_act: z.string().default('gelu'),
  layer_norm_eps: epsilon.default(1e-6),
  qkv_bias: z.boolean().default(true),
  use_abs_pos: z.boolean().default(true),
  use_rel_pos: z.boolean().default(true),
  window_size: z.int().min(0).max(1024).default(14),
  global_attn_indexes: z.array(z.int()).max(1024).default([2, 5, 8, 11]),
});

/** Patches of a column and of a line. */
const patchEdge = (c: { image_size: number; patch_size: number }): number =>
  Math.floor(c.image_size / c.patch_size);

const PATCH_TOO_LARGE = { message: 'is larger than image_size', path: ['patch_size'] };

interface ImageSizes extends Record<'image_size' | 'patch_size' | 'hidden_size', number> {
  mlp_dim?: number | null | undefined;
  mlp_ratio?: number;
}

/** An encoder's fields with what follows from them: the width between its layers, and patches of a column and of a line. */
export function withGrid<C extends ImageSizes>(c: C, context: z.RefinementCtx) {
  const [inner, edge] = [c.mlp_dim ?? Math.trunc(c.hidden_size * (c.mlp_ratio ?? 4)), patchEdge(c)];
  if (edge === 0) context.addIssue({ code: 'custom', ...PATCH_TOO_LARGE });
  return { ...c, inner, edge };
}

/** The width between layers, as SAM's files have it. */
export const mlpFields = {
  mlp_ratio: z.number().min(0.01).max(64).default(4),
  mlp_dim: size.nullish(),
};

const images = imageFields.extend({ ...mlpFields, num_pos_feats: size.default(128) }).transform(withGrid);

/** Of SAM and SAM 2. */
export const promptFields = z.object({
  hidden_size: size.default(256),
  image_size: edge.default(1024),
  patch_size: edge.default(16),
  num_point_embeddings: z.int().min(2).max(1024).default(4),
});
export const promptsConfig = promptFields.refine((c) => patchEdge(c) > 0, PATCH_TOO_LARGE);

/** Fields of the decoder of masks that SAM and SAM 2 share. */
export const MASK_FIELDS = {
  hidden_size: size.multipleOf(8).default(256),
  mlp_dim: size.default(2048),
  num_attention_heads: size.default(8),
  attention_downsample_rate: z.int().min(1).max(1024).default(2),
  num_multimask_outputs: z.int().min(1).max(64).default(3),
  iou_head_hidden_dim: size.default(256),
};

const masks = z.object({
  ...MASK_FIELDS,
  hidden_act: z.string().default('relu'),
  num_hidden_layers: layers.default(2),
  iou_head_depth: layers.default(3),
  layer_norm_eps: epsilon.default(1e-6),
});

const PARTS = { vision_config: images.prefault({}), prompt_encoder_config: promptsConfig.prefault({}) };

interface Parts<M> {
  vision_config: z.output<typeof images>;
  prompt_encoder_config: z.output<typeof promptsConfig>;
  mask_decoder_config: M;
}

const byPart = <M>(c: Parts<M>) => ({
  images: c.vision_config,
  prompts: c.prompt_encoder_config,
  masks: c.mask_decoder_config,
});

/** The parts' widths and grids are the same. */
function checkParts(
  { images, prompts, masks: decoder }: ReturnType<typeof byPart<{ hidden_size: number }>>,
  context: z.RefinementCtx,
): void {
  const width = images.output_channels;
  const others = [prompts.hidden_size, decoder.hidden_size, 2 * images.num_pos_feats];
  if (others.some((other) => other !== width)) refuse('vision_config', 'parts are of different width');
  if (Math.floor(prompts.image_size / prompts.patch_size) !== images.edge)
    refuse('prompt_encoder_config', 'its grid is not that of the images');
  function refuse(path: string, message: string): void {
    context.addIssue({ code: 'custom', message, path: [path] });
  }
}

export const samConfig = z
  .object({ ...PARTS, mask_decoder_config: masks.prefault({}) })
  .transform(byPart)
  .superRefine(checkParts);
export type SamConfig = z.output<typeof samConfig>;

/** SAM-HQ's decoder names the width of the encoder of images. */
const qualityMasks = masks.extend({ vit_dim: size.default(768) });

export const samHqConfig = z
  .object({ ...PARTS, mask_decoder_config: qualityMasks.prefault({}) })
  .transform(byPart)
  .superRefine(checkParts)
  .refine(({ images, masks: decoder }) => decoder.vit_dim === images.hidden_size, {
    ...{ message: 'is not hidden_size of vision_config', path: ['mask_decoder_config', 'vit_dim'] },
  });
