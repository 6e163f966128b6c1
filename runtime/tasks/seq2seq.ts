import * as z from 'zod';
import type { EngineBinding } from './define.js';
import { truncation } from './fragments.js';
import { generationParams } from './generation-params.js';

const { skip_special_tokens: _, ...shared } = generationParams;

/** Parameters of the tasks in which an encoder reads a text and a decoder writes another. */
export const seq2seqParams = {
  ...shared,
  max_length: shared.max_length.describe('longest answer in tokens, the start token included'),
  clean_up_tokenization_spaces: shared.clean_up_tokenization_spaces.describe(
    'join English punctuation to the word before it; false by default',
  ),
  stop_sequence: shared.stop_sequence.describe('the first token of this text ends the answer'),
  truncation,
  decoder_start_token_id: z
    .union([z.int().min(0), z.array(z.int().min(0)).length(1)])
    .nullish()
    .describe('the token that the answer begins with'),
};

/** What such a model is made of. The decoder comes as one merged graph or as a pair. */
export const seq2seqFiles = {
  graphs: ['encoder_model', 'decoder_model_merged'],
  otherGraphs: [['encoder_model', 'decoder_model', 'decoder_with_past_model']],
  files: ['tokenizer.json', 'tokenizer_config.json', 'special_tokens_map.json', 'generation_config.json'],
} satisfies Partial<EngineBinding<never, never, never>>;
