import * as z from 'zod';
import { epsilon, labelCount, labels, layers, size } from '../../config-fields.js';

/** What configurations of this kind have in common, with BERT's defaults. */
export const bertConfig = {
  ...labels,
  ...{ vocab_size: size, hidden_size: size, intermediate_size: size },
  ...{ num_hidden_layers: layers, num_attention_heads: size },
  hidden_act: z.string().default('gelu'),
  max_position_embeddings: size.default(512),
  type_vocab_size: z.int().min(0).max(64).default(2),
  layer_norm_eps: epsilon.default(1e-12),
};

export type BertConfig = z.output<z.ZodObject<typeof bertConfig>>;

export const bertSizes = (c: BertConfig) => ({
  width: c.hidden_size,
  inner: c.intermediate_size,
  heads: c.num_attention_heads,
  epsilon: c.layer_norm_eps,
  act: c.hidden_act,
  vocabulary: c.vocab_size,
  labels: labelCount(c),
});
