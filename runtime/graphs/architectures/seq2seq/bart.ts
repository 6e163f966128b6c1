import * as z from 'zod';
import { defineArchitecture } from '../../architecture.js';
import { seq2seqHeads } from '../../blocks/seq2seq.js';
import { labelCount, size } from '../config.js';
import { bartModel } from './bart-like.js';
import { bartConfig, bartSizes } from './config.js';
import { learned, sinesBehindPadding, storedSines } from './positions.js';
import { sourceClassifier } from './source-classifier.js';

const PREFIXES = ['model.'];
const config = z.object(bartConfig);
type Config = z.output<typeof config>;

/** Rows of BART's tables of positions before the first one. */
export const BART_OFFSET = 2;

const bartOf = (c: Config) => ({
  ...bartSizes(c),
  ...{ normsBefore: false, embeddingNorm: true },
  positions: learned({ rows: c.max_position_embeddings, width: c.d_model, offset: BART_OFFSET }),
});

/** modeling_bart.py */
export const bart = defineArchitecture({
  modelTypes: ['bart'],
  config,
  prefixes: PREFIXES,
  heads: {
    ...seq2seqHeads<Config>((c) => bartModel(bartOf(c))),
    ...sourceClassifier<Config>((c) => ({ ...bartOf(c), labels: labelCount(c), endId: c.eos_token_id })),
  },
});

/** BART with its norms before. modeling_mbart.py */
export const mbart = defineArchitecture({
  modelTypes: ['mbart'],
  config,
  prefixes: PREFIXES,
  heads: seq2seqHeads<Config>((c) => bartModel({ ...bartOf(c), normsBefore: true })),
});

const blenderbotConfig = config.extend({
  max_position_embeddings: size.default(128),
  pad_token_id: z.int().min(0).default(0),
});

/** MBART without a norm of what it reads. modeling_blenderbot.py */
export const blenderbot = defineArchitecture({
  modelTypes: ['blenderbot'],
  config: blenderbotConfig,
  prefixes: PREFIXES,
  heads: seq2seqHeads<Config>((c) =>
    bartModel({
      ...bartSizes(c),
      ...{ normsBefore: true, embeddingNorm: false },
      positions: learned({ rows: c.max_position_embeddings, width: c.d_model, offset: 0 }),
    }),
  ),
});

const pegasusConfig = config.extend({
  pad_token_id: z.int().min(0).default(0),
  eos_token_id: z.int().min(0).default(1),
});

/** modeling_pegasus.py */
export const pegasus = defineArchitecture({
  modelTypes: ['pegasus'],
  config: pegasusConfig,
  prefixes: PREFIXES,
  heads: seq2seqHeads<Config>((c) =>
    bartModel({
      ...bartSizes(c),
      ...{ normsBefore: true, embeddingNorm: false },
      positions: storedSines({ rows: c.max_position_embeddings, width: c.d_model }),
    }),
  ),
});

const marianConfig = config.extend({
  decoder_vocab_size: size.nullish(),
  pad_token_id: z.int().min(0).default(58_100),
  eos_token_id: z.int().min(0).default(0),
});

/** modeling_marian.py */
export const marian = defineArchitecture({
  modelTypes: ['marian'],
  config: marianConfig,
  prefixes: PREFIXES,
  heads: seq2seqHeads<z.output<typeof marianConfig>>((c) =>
    bartModel({
      ...bartSizes(c),
      ...{
        normsBefore: false,
        embeddingNorm: false,
        positions: storedSines({ rows: c.max_position_embeddings, width: c.d_model }),
      },
      answerVocabulary: c.decoder_vocab_size ?? c.vocab_size,
    }),
  ),
});

const m2mConfig = config.extend({
  activation_function: z.string().default('relu'),
  scale_embedding: z.boolean().default(true),
});

/** modeling_m2m_100.py; NLLB is the same network. */
export const m2m100 = defineArchitecture({
  modelTypes: ['m2m_100'],
  config: m2mConfig,
  prefixes: PREFIXES,
  heads: seq2seqHeads<Config>((c) =>
    bartModel({
      ...bartSizes(c),
      ...{ normsBefore: true, embeddingNorm: false },
      positions: sinesBehindPadding(c.d_model, c.pad_token_id),
    }),
  ),
});
