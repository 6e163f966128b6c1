import * as z from 'zod';
import { epsilon, size } from '../../config-fields.js';
import { backbone } from '../backbone/index.js';
import { deformableFields } from '../deformable-detr.js';
import { textConfig } from './text.js';

const fields = {
  ...deformableFields,
  use_timm_backbone: z.boolean().default(false),
  backbone_config: backbone
    .nullish()
    .transform((given) => given ?? backbone.parse({ model_type: 'swin', out_indices: [2, 3, 4] })),
  text_config: textConfig.nullish().transform((given) => given ?? textConfig.parse({})),
  num_queries: size.default(900),
  ...{ encoder_ffn_dim: size.default(2048), decoder_ffn_dim: size.default(2048) },
  embedding_init_target: z.literal(true, 'queries that are not learned are not known').default(true),
  two_stage: z.literal(true, 'Python does not make one stage').default(true),
  query_dim: z.literal(4).default(4),
  positional_embedding_temperature: z.number().min(1).max(1e9).default(20),
  layer_norm_eps: epsilon.default(1e-5),
};

export const groundingConfig = z
  .object({
    ...fields,
    decoder_bbox_embed_share: z.boolean().default(true),
  })
  .transform((c) => ({ ...c, isMm: false }));
/** MM Grounding DINO's. */
export const mmGroundingConfig = z
  .object(fields)
  .transform((c) => ({ ...c, isMm: true, decoder_bbox_embed_share: false }));
export type GroundingConfig = z.output<typeof groundingConfig> | z.output<typeof mmGroundingConfig>;
