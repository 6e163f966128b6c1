import { z } from 'zod';

const count = z.int().min(0).nullish();
const positive = z.number().positive().nullish();
const probability = z.number().min(0).max(1).nullish();

/** Arguments of generate() that we honour, under their Python names. Ranges are Python's. */
export const generationParams = {
  max_new_tokens: z
    .int()
    .min(1)
    .nullish()
    .describe('how many tokens to add at most; 256 where nothing sets it'),
  max_length: z.int().min(1).nullish().describe('longest result in tokens, the prompt included'),
  min_new_tokens: count,
  min_length: count,
  max_time: positive.describe('seconds after which the text ends with what is there'),
  do_sample: z.boolean().nullish().describe('draw tokens instead of taking the likeliest'),
  temperature: z.number().min(0).nullish().describe('0 is greedy'),
  top_k: count,
  top_p: probability,
  min_p: probability,
  typical_p: probability,
  repetition_penalty: positive,
  presence_penalty: z.number().min(-2).max(2).nullish(),
  frequency_penalty: z.number().min(-2).max(2).nullish(),
  no_repeat_ngram_size: count,
  bad_words_ids: z.array(z.array(z.int().min(0)).min(1)).nullish(),
  num_beams: z.int().min(1).max(16).nullish(),
  length_penalty: z.number().nullish(),
  early_stopping: z.union([z.boolean(), z.literal('never')]).nullish(),
  eos_token_id: z.union([z.int().min(0), z.array(z.int().min(0))]).nullish(),
  seed: z.int().min(0).nullish().describe('makes sampling reproducible'),
  stop: z
    .union([z.string().min(1), z.array(z.string().min(1)).max(16)])
    .nullish()
    .describe('the text ends before the first of these'),
};
