import * as z from 'zod';
import { params, truncation } from './fragments.js';

const count = z.int().min(0).nullish();
/** Larger than any vocabulary. */
const MAX_ITEMS = 2 ** 19;
const tokens = z.array(z.int().min(0)).max(MAX_ITEMS);
const positive = z.number().positive().nullish();
const probability = z.number().min(0).max(1).nullish();

const SAMPLING_ONLY = 'does nothing without do_sample or a temperature';

/** Arguments of tasks without an encoder. */
export const promptParams = {
  guidance_scale: z
    .number()
    .nullish()
    .describe(
      'more than 1 moves away from what would come without the prompt; not with num_beams or logprobs',
    ),
  truncation: z
    .union([truncation, z.literal(false)])
    .describe('cut the prompt to the tokenizer’s limit; false by default'),
  handle_long_generation: z
    .literal('hole')
    .nullish()
    .describe('keep the end of a prompt that leaves no room within the tokenizer’s limit'),
};

/** What evaluations ask of language models without an encoder. */
export const scoringParams = {
  prompt_token_ids: tokens
    .nullish()
    .describe('the prompt by the model’s own tokens, in place of the text, which is empty then'),
  prompt_logprobs: z
    .int()
    .min(0)
    .max(20)
    .nullish()
    .describe(
      'tell the log-probability of each token of the prompt after those before it, and those of so many likely ones; with count_only nothing else',
    ),
};

/** Supported arguments of generate(), with Python's names and ranges. */
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
  do_sample: z
    .boolean()
    .nullish()
    .describe('draw tokens instead of taking the likeliest; false also where a temperature is given'),
  temperature: z
    .number()
    .min(0)
    .nullish()
    .describe('more than 0 draws tokens, unless do_sample is false; 0 is greedy'),
  top_k: count.describe(SAMPLING_ONLY),
  top_p: probability.describe(SAMPLING_ONLY),
  min_p: probability.describe(SAMPLING_ONLY),
  typical_p: probability.describe(SAMPLING_ONLY),
  repetition_penalty: positive,
  presence_penalty: z.number().min(-2).max(2).nullish(),
  frequency_penalty: z.number().min(-2).max(2).nullish(),
  no_repeat_ngram_size: count,
  encoder_repetition_penalty: positive.describe('more than 1 favours tokens of the input'),
  encoder_no_repeat_ngram_size: count.describe('no n-gram of the input comes again'),
  bad_words_ids: z.array(tokens.min(1)).max(MAX_ITEMS).nullish(),
  sequence_bias: z
    .array(z.tuple([tokens.min(1), z.number()]))
    .nullish()
    .describe('pairs of a token sequence and what its last token gains'),
  logit_bias: z
    .record(z.string().regex(/^\d{1,7}$/, 'must be token ids'), z.number().min(-100).max(100))
    .nullish()
    .describe('token id to what its score gains, as in OpenAI’s interface'),
  suppress_tokens: tokens.nullish().describe('tokens that never come'),
  begin_suppress_tokens: tokens.nullish().describe('tokens that never come first'),
  forced_bos_token_id: z.int().min(0).nullish(),
  forced_eos_token_id: z
    .union([z.int().min(0), tokens])
    .nullish()
    .describe('the last token at full length'),
  exponential_decay_length_penalty: z.tuple([z.int().min(0), z.number().positive()]).nullish(),
  epsilon_cutoff: probability.describe(SAMPLING_ONLY),
  eta_cutoff: probability.describe(SAMPLING_ONLY),
  renormalize_logits: z.boolean().nullish(),
  remove_invalid_values: z.boolean().nullish().describe('scores that are no numbers count as 0'),
  num_beams: z.int().min(1).max(16).nullish(),
  length_penalty: z.number().nullish(),
  early_stopping: z.union([z.boolean(), z.literal('never')]).nullish(),
  eos_token_id: z.union([z.int().min(0), tokens]).nullish(),
  ignore_eos: z
    .boolean()
    .nullish()
    .describe('true: go on to the full length, whatever tokens would end the text'),
  stop_token_ids: tokens
    .max(1024)
    .nullish()
    .describe('more tokens that end the text; what they stand for is not in it'),
  seed: z.int().min(0).nullish().describe('makes sampling reproducible; does nothing without it'),
  stop: z
    .union([z.string().min(1), z.array(z.string().min(1)).max(16)])
    .nullish()
    .describe('the text ends before the first of these'),
  clean_up_tokenization_spaces: z
    .boolean()
    .nullish()
    .describe('join English punctuation to the word before it, as Python’s pipeline does unless told not to'),
  skip_special_tokens: z.boolean().nullish().describe('false: special tokens are text too'),
  stop_sequence: z.string().min(1).nullish().describe('each token of this text ends the answer'),
  count_only: z
    .boolean()
    .nullish()
    .describe('true: write nothing; the usage tells how many tokens the prompt has'),
  num_return_sequences: z
    .int()
    .min(1)
    .max(16)
    .nullish()
    .describe('answers to give; more than 1 needs do_sample or num_beams, and makes the output an array'),
  logprobs: z
    .int()
    .min(0)
    .max(20)
    .nullish()
    .describe('tell each token’s log-probability under the model itself, and those of so many likely ones'),
  stream_tokens: z
    .boolean()
    .nullish()
    .describe(
      'with logprobs and stream, in server-sent events: each token is an event of its own (`token`), before the text that it makes certain',
    ),
  use_cache: z.boolean().nullish().describe('the answer is the same'),
  pad_token_id: z.int().nullish().describe('one row is never padded: the answer is the same'),
};

/**
 * `params` of a task whose pipeline in Python takes generate()'s arguments in `generate_kwargs`, too. They are read as if they stood
 * beside it; a name that stands in both places is a 400.
 */
export function withGenerateKwargs<S extends z.ZodRawShape>(shape: S) {
  const generate_kwargs = z
    .record(z.string(), z.unknown())
    .nullish()
    .describe('more of these parameters, as Python’s pipeline takes them');
  return z.preprocess(spreadGenerateKwargs, params({ ...shape, generate_kwargs }));
}

function spreadGenerateKwargs(given: unknown, context: z.RefinementCtx): unknown {
  if (typeof given !== 'object' || given === null || !('generate_kwargs' in given)) return given;
  const { generate_kwargs: inner, ...own } = given as Record<string, unknown>;
  if (inner === null) return own;
  if (typeof inner !== 'object' || Array.isArray(inner)) return given;
  const twice = Object.keys({ ...inner }).find((name) => name in own || name === 'generate_kwargs');
  if (twice !== undefined)
    context.addIssue({ code: 'custom', path: [twice], message: 'is in params.generate_kwargs, too' });
  return { ...own, ...inner };
}
