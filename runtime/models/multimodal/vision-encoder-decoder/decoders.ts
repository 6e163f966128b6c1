import * as z from 'zod';
import { tableScores } from '../../layers/linear.js';
import type { SourceDecoder } from '../../layers/cross-decoder.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import { BERT_SCORES, robertaScores } from '../../bases/encoder/bert-layer.js';
import { bertConfig } from '../../bases/encoder/bert-config.js';
import { gpt2Config } from '../../text/gpt2.js';
import { layers, size } from '../../config-fields.js';
import { BART_OFFSET } from '../../bases/encoder-decoder/bart-model.js';
import { bartModel } from '../../bases/encoder-decoder/bart-decoder.js';
import { bartConfig, bartSizes } from '../../bases/encoder-decoder/bart-config.js';
import { learned, sinesBehindPadding } from '../../bases/encoder-decoder/positions.js';
import { bertReader } from '../bert-cross-decoder.js';
import { gpt2Reader } from './gpt2-decoder.js';

/** A decoder inside of another model, which attends to states of any width. */
export interface Reader {
  /** Of its own states. */
  width: number;
  /** Width of the states that it was made for, where it says so; else they are brought to its own. */
  sourceWidth: number | undefined;
  decoder: SourceDecoder;
}

const sourceWidth = { cross_attention_hidden_size: size.nullish() };
/** Of readers that take states of their own width only. */
const ownSource = { cross_attention_hidden_size: z.null().optional() };

const bartDefaults = {
  ...{ vocab_size: size.default(50_265), d_model: size.default(1024) },
  ...{ encoder_layers: layers.default(12), decoder_layers: layers.default(12) },
  ...{ encoder_ffn_dim: size.default(4096), decoder_ffn_dim: size.default(4096) },
  ...{ encoder_attention_heads: size.default(16), decoder_attention_heads: size.default(16) },
};

/** The decoder of mBART alone. */
const mbart = z.object({ ...bartConfig, ...bartDefaults, ...ownSource }).transform((c): Reader => ({
  ...{ width: c.d_model, sourceWidth: undefined },
  decoder: bartModel({
    ...bartSizes(c),
    ...{ normsBefore: true, embeddingNorm: true },
    positions: learned({ rows: c.max_position_embeddings, width: c.d_model, offset: BART_OFFSET }),
  }),
}));

const trocr = z
  .object({
    ...{ ...bartConfig, ...bartDefaults, ...sourceWidth },
    max_position_embeddings: size.default(512),
    use_learned_position_embeddings: z.boolean().default(true),
    layernorm_embedding: z.boolean().default(true),
  })
  .transform((c): Reader => {
    const { d_model: width, cross_attention_hidden_size: from, max_position_embeddings: rows } = c;
    const model = bartModel({
      ...bartSizes(c),
      ...{ normsBefore: false, embeddingNorm: c.layernorm_embedding, sourceWidth: from ?? width },
      positions: c.use_learned_position_embeddings
        ? learned({ rows, width, offset: BART_OFFSET })
        : sinesBehindPadding(width, c.pad_token_id),
    });
    const names = { own: 'output_projection.weight', tied: 'model.decoder.embed_tokens.weight' };
    const table = { rows: c.vocab_size, width, tie: c.tie_word_embeddings };
    const scores = (g: GraphWriter, x: Value) => tableScores(g, x, names, table);
    return { width, sourceWidth: from ?? undefined, decoder: { ...model, scores } };
  });

const gpt2 = gpt2Config
  .extend(ownSource)
  .transform((c): Reader => ({ width: c.n_embd, sourceWidth: undefined, decoder: gpt2Reader(c) }));

const bertFields = {
  ...bertConfig,
  ...{ vocab_size: size.default(30_522), hidden_size: size.default(768) },
  ...{ num_hidden_layers: layers.default(12), num_attention_heads: size.default(12) },
  intermediate_size: size.default(3072),
  position_embedding_type: z.literal('absolute').default('absolute'),
  ...ownSource,
};

const bert = z.object(bertFields).transform((c): Reader => ({
  ...{ width: c.hidden_size, sourceWidth: undefined },
  decoder: bertReader(c, { base: 'bert', firstPlace: 0, names: BERT_SCORES }),
}));

const roberta = z
  .object({ ...bertFields, vocab_size: size.default(50_265), pad_token_id: z.int().min(0).default(1) })
  .transform((c): Reader => ({
    ...{ width: c.hidden_size, sourceWidth: undefined },
    decoder: bertReader(c, {
      ...{ base: 'roberta', firstPlace: c.pad_token_id + 1 },
      names: robertaScores('roberta.'),
    }),
  }));

/** Decoders by their `model_type`. */
export const READERS: Readonly<Record<string, z.ZodType<Reader>>> = {
  ...{ gpt2, trocr, mbart, bert, roberta, 'xlm-roberta': roberta },
};
