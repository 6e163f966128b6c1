import * as z from 'zod';
import type { ModelReaders } from '../../../core/readers.js';
import type { LogPositions } from '../../layers/log-position-bias.js';
import { epsilon, size } from '../../config-fields.js';
import { bertConfig } from '../../bases/encoder/bert-config.js';

/** `p2c|c2p` or a list. */
const kinds = z
  .union([
    z.string().transform((text) =>
      text
        .toLowerCase()
        .split('|')
        .map((kind) => kind.trim()),
    ),
    z.array(z.string()),
  ])
  .nullish()
  .transform((list) => list ?? []);
/** Below 1 where there is none. */
const optional = z
  .int()
  .max(2 ** 24)
  .default(-1);

/** What is read of config.json, with Python's defaults: configuration_deberta_v2.py and what the model asks for beside. */
export const debertaConfig = z
  .object({
    ...bertConfig,
    type_vocab_size: z.int().min(0).max(64).default(0),
    layer_norm_eps: epsilon.default(1e-7),
    embedding_size: size.optional(),
    attention_head_size: size.optional(),
    position_biased_input: z.boolean().default(true),
    relative_attention: z.boolean().default(false),
    pos_att_type: kinds,
    share_att_key: z.boolean().default(false),
    norm_rel_ebd: z.string().default('none'),
    ...{ position_buckets: optional, max_relative_positions: optional },
    conv_kernel_size: z.int().min(0).max(1023).default(0),
    conv_groups: size.default(1),
    conv_act: z.string().default('tanh'),
    pooler_hidden_act: z.string().default('gelu'),
    legacy: z.boolean().optional(),
  })
  .refine((c) => c.hidden_size === c.num_attention_heads * (c.attention_head_size ?? headWidth(c)), {
    message: 'heads side by side must be as wide as states',
    path: ['num_attention_heads'],
  })
  .refine((c) => c.conv_kernel_size === 0 || c.conv_kernel_size % 2 === 1, {
    message: 'an even kernel makes texts shorter',
    path: ['conv_kernel_size'],
  });
export type DebertaConfig = z.output<typeof debertaConfig>;

export const headWidth = (c: { hidden_size: number; num_attention_heads: number }): number =>
  Math.floor(c.hidden_size / c.num_attention_heads);

/** What of content and position is compared with the other's. */
export const comparisons = (c: DebertaConfig) => ({
  queries: c.pos_att_type.includes('c2p'),
  keys: c.pos_att_type.includes('p2c'),
});

/** Without a table for positions there are distances alone. */
export const debertaReaders = (config: Readonly<Record<string, unknown>>): ModelReaders =>
  config['position_biased_input'] === false ? { positions: 'distance' } : {};

/** Of all scores: they are a sum of up to three, even in a model without relative positions. */
export function scoreScale(c: DebertaConfig): number {
  const { queries, keys } = comparisons(c);
  return 1 / Math.sqrt(headWidth(c) * (1 + Number(queries) + Number(keys)));
}

export function relativePositions(c: DebertaConfig): LogPositions {
  const farthest = c.max_relative_positions < 1 ? c.max_position_embeddings : c.max_relative_positions;
  const buckets = c.position_buckets > 0 ? c.position_buckets : undefined;
  return { span: buckets ?? farthest, buckets, farthest };
}

/** True where vectors of distances are normed. */
export const normsDistances = (c: DebertaConfig): boolean =>
  c.norm_rel_ebd
    .toLowerCase()
    .split('|')
    .some((part) => part.trim() === 'layer_norm');
