import * as z from 'zod';
import { size } from '../../config-fields.js';
import { levelSizes, neckFields, promptedConfig, SIZES_AGREE } from '../sam2/config.js';

/** Widths and depths of stages by timm's names; three of them have norms of their own in each convolution. */
const SIZES: Readonly<Record<string, { widths: number[]; depths: number[]; isLegacy?: true }>> = {
  m1: { widths: [48, 96, 192, 384], depths: [2, 2, 14, 2], isLegacy: true },
  m2: { widths: [64, 128, 256, 512], depths: [2, 2, 12, 2], isLegacy: true },
  m3: { widths: [64, 128, 256, 512], depths: [4, 4, 18, 2], isLegacy: true },
  m0_9: { widths: [48, 96, 192, 384], depths: [2, 2, 14, 2] },
  m1_0: { widths: [56, 112, 224, 448], depths: [2, 2, 14, 2] },
  m1_1: { widths: [64, 128, 256, 512], depths: [2, 2, 12, 2] },
  m1_5: { widths: [64, 128, 256, 512], depths: [4, 4, 24, 4] },
  m2_3: { widths: [80, 160, 320, 640], depths: [6, 6, 34, 2] },
};

/** What follows a point says which weights timm would load. */
const sizesOf = (name: string) => (Object.hasOwn(SIZES, nameOf(name)) ? SIZES[nameOf(name)] : undefined);
const nameOf = (architecture: string): string => /^repvit_(m[0-9_]+)(?:\.|$)/.exec(architecture)?.[1] ?? '';

const four = <T extends z.ZodType>(one: T) => z.tuple([one, one, one, one]);

/** Arguments for timm: those that say what Python needs, and sizes. */
const modelArguments = z.strictObject({
  features_only: z.literal(true),
  in_chans: z.literal(3).default(3),
  out_indices: z.tuple([z.literal(0), z.literal(1), z.literal(2), z.literal(3)]).optional(),
  embed_dim: four(size.min(2)).optional(),
  depth: four(z.int().min(0).max(128)).optional(),
  mlp_ratio: z.int().min(1).max(64).default(2),
});

const repVit = z
  .object({
    model_type: z.literal('timm_wrapper', 'only networks of timm are known'),
    architecture: z.string().refine((name) => sizesOf(name) !== undefined, 'only RepViT is known'),
    model_args: modelArguments,
  })
  .transform(({ architecture, model_args: given }) => {
    const { widths, depths, isLegacy = false } = sizesOf(architecture)!;
    const own: { widths: readonly number[]; depths: readonly number[] } = {
      ...{ widths: given.embed_dim ?? widths, depths: given.depth ?? depths },
    };
    return { ...own, isLegacy, ratio: given.mlp_ratio };
  });
export type RepVitConfig = z.output<typeof repVit>;

const images = z.object({
  ...neckFields,
  backbone_config: repVit,
  backbone_feature_sizes: levelSizes([256, 128, 64]),
});

export const edgeTamConfig = promptedConfig(images).refine(...SIZES_AGREE);
export type EdgeTamConfig = z.output<typeof edgeTamConfig>;
