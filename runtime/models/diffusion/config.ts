import * as z from 'zod';
import { GraphError } from '../writer/errors.js';
import { epsilon, size } from '../config-fields.js';

/** Fields that configurations of diffusers' networks have in common. */

/** A number for each level of a network that halves images step by step. */
export const levels = z
  .array(
    z
      .int()
      .min(1)
      .max(2 ** 16),
  )
  .min(1)
  .max(16);

export const groups = z.int().min(1).max(4096);
export const channels = z.int().min(1).max(4096);
export const act = z.string().default('silu');
const layerCount = z.int().min(1).max(64);

/** One value for all levels, or one for each. */
export const perLevel = <T extends z.ZodType>(value: T) => z.union([value, z.array(value).min(1).max(16)]);

/** Fields of the networks that find noise. */
export const unetConfig = {
  flip_sin_to_cos: z.boolean().default(true),
  freq_shift: z.number().min(0).max(8).default(0),
  center_input_sample: z.boolean().default(false),
  layers_per_block: perLevel(layerCount).default(2),
  downsample_padding: z.int().min(0).max(8).default(1),
  mid_block_scale_factor: z.number().positive().default(1),
  act_fn: act,
  norm_num_groups: groups.default(32),
  norm_eps: epsilon.default(1e-5),
  resnet_time_scale_shift: z.enum(['default', 'scale_shift']).default('default'),
  time_embedding_type: z.literal('positional').default('positional'),
  time_embedding_dim: size.nullish(),
  class_embed_type: z.null().optional(),
  num_class_embeds: z.null().optional(),
};

type UnetConfig = z.output<z.ZodObject<typeof unetConfig>>;

/** Sizes of the residual blocks of such a network. */
export const blockSizes = (c: Pick<UnetConfig, 'norm_num_groups' | 'norm_eps' | 'act_fn'>) => ({
  groups: c.norm_num_groups,
  epsilon: c.norm_eps,
  act: c.act_fn,
});

/** @throws GraphError where a list is not as long as there are levels */
export function listOf<T>(name: string, value: T | readonly T[], count: number): readonly T[] {
  if (!Array.isArray(value)) return Array.from({ length: count }, () => value as T);
  if (value.length === count) return value as readonly T[];
  throw new GraphError(`config.json: ${name} has ${value.length} entries for ${count} levels`);
}
