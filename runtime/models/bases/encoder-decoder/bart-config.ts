import * as z from 'zod';
import { labels, layers, size } from '../../config-fields.js';

/** What configurations of BART and its relatives have in common. */
export const bartConfig = {
  ...labels,
  ...{ vocab_size: size, d_model: size, max_position_embeddings: size.default(1024) },
  ...{ encoder_layers: layers, encoder_ffn_dim: size, encoder_attention_heads: size },
  ...{ decoder_layers: layers, decoder_ffn_dim: size, decoder_attention_heads: size },
  activation_function: z.string().default('gelu'),
  scale_embedding: z.boolean().default(false),
  tie_word_embeddings: z.boolean().default(true),
  pad_token_id: z.int().min(0).default(1),
  eos_token_id: z.int().min(0).default(2),
};

export type BartConfig = z.output<z.ZodObject<typeof bartConfig>>;

export const bartSizes = (c: BartConfig) => ({
  width: c.d_model,
  vocabulary: c.vocab_size,
  answerVocabulary: c.vocab_size,
  layers: { encoder: c.encoder_layers, decoder: c.decoder_layers },
  heads: { encoder: c.encoder_attention_heads, decoder: c.decoder_attention_heads },
  inner: { encoder: c.encoder_ffn_dim, decoder: c.decoder_ffn_dim },
  act: c.activation_function,
  embedScale: c.scale_embedding ? Math.sqrt(c.d_model) : 1,
  tie: c.tie_word_embeddings,
});
