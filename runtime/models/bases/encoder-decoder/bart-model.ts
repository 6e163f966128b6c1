import * as z from 'zod';
import { bartConfig, bartSizes } from './bart-config.js';
import { learned } from './positions.js';

export const PREFIXES = ['model.'];

export const config = z.object(bartConfig);

export type Config = z.output<typeof config>;

/** Rows of BART's tables of positions before the first one. */
export const BART_OFFSET = 2;

export const bartOf = (c: Config) => ({
  ...bartSizes(c),
  ...{ normsBefore: false, embeddingNorm: true },
  positions: learned({ rows: c.max_position_embeddings, width: c.d_model, offset: BART_OFFSET }),
});
