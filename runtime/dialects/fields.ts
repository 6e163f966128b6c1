import type { Response } from 'express';
import * as z from 'zod';
import { RunError } from '../core/errors.js';
import { deepest } from '../tasks/body.js';
import { drawingParams, stopStrings } from './sampling.js';

/** A field of OpenAI's interface that is not supported: only null or its absence is accepted. */
export const unsupportedField = (why: string) =>
  z
    .null({ error: `is not supported: ${why}` })
    .optional()
    .describe(`not supported: ${why}`);

const hints = new WeakSet<object>();

/** A field that can't change the answer: it is accepted, and named in the header of `tellHints`. */
export function hint(why = 'changes nothing') {
  const schema = z.unknown().optional().describe(why);
  hints.add(schema);
  return schema;
}

/** Header that names the fields of a request which changed nothing. */
export const IGNORED_HEADER = 'X-Slipway-Ignored';

/** Names the hints that a request has given. @param shape of the body's schema */
export function tellHints(response: Response, shape: object, given: object): void {
  const schemas = shape as Record<string, object>;
  const names = Object.entries(given)
    .filter(([name, value]) => value != null && Object.hasOwn(schemas, name) && hints.has(schemas[name]!))
    .map(([name]) => name);
  if (names.length > 0) response.setHeader(IGNORED_HEADER, names.join(', '));
}

/** A field of which only values that change nothing are accepted. @param why of the refusal of all others */
export const neutral = (values: readonly unknown[], why: string) => {
  const texts = new Set(values.map((value) => JSON.stringify(value)));
  return z
    .unknown()
    .optional()
    .refine((value) => value == null || texts.has(JSON.stringify(value)), {
      error: `is not supported: ${why}`,
    })
    .describe(`only ${[...texts].join(' or ')}: ${why}`);
};

/** Accepted fields that do not change the answer. */
export const ignoredFields = {
  user: hint(),
  metadata: hint(),
  store: hint(),
  service_tier: hint(),
  safety_identifier: hint(),
  prompt_cache_key: hint(),
  prompt_cache_retention: hint(),
};

/** On a server of one model any name, or none, means that model. */
export const modelField = z.string().nullish().describe('where one model is served: any');

/** A text, or a list of them. @param notText error where something is no text */
export function textOrTexts(most: number, notText: string) {
  const many = z
    .array(z.string({ error: notText }), { error: notText })
    .min(1, 'must have a text at least')
    .max(most, {
      error: ({ input }) => `takes ${most} texts at most, and there are ${(input as []).length}`,
    });
  // The list first: of two branches that fail at the same depth, the first one's error is told.
  return z.union([many, z.string({ error: notText })]);
}

const probability = z.number().min(0).max(1).nullish();

/** Generation fields of both text endpoints. */
export const samplingFields = {
  temperature: z
    .number()
    .min(0)
    .nullish()
    .describe('default: the value of the model’s repository, else greedy; 0 is greedy'),
  top_p: probability.describe('below 1, tokens are sampled'),
  max_tokens: z.int().min(-1).nullish().describe('default, and -1: the repository’s limit, else 256'),
  stop: z.union([z.string(), z.array(z.string()).max(16)]).nullish(),
  seed: z.int().min(-1).nullish().describe('-1: none'),
  n: z.int().min(1).max(16).nullish().describe('above 1, tokens are sampled'),
  presence_penalty: z.number().min(-2).max(2).nullish(),
  frequency_penalty: z.number().min(-2).max(2).nullish(),
  logit_bias: z
    .record(z.string().regex(/^\d{1,7}$/, 'must be token ids'), z.number().min(-100).max(100))
    .nullish(),
  top_k: z
    .int()
    .min(-1)
    .nullish()
    .describe('not OpenAI’s: sample from this many of the most likely tokens; 0 and -1: from all'),
  min_p: probability.describe(
    'not OpenAI’s: sample from tokens with at least this share of the highest probability',
  ),
  typical_p: probability.describe('not OpenAI’s: below 1, sample from tokens of typical probability'),
  repetition_penalty: z.number().positive().nullish().describe('not OpenAI’s'),
  repeat_penalty: z.number().positive().nullish().describe('another name of repetition_penalty'),
  min_tokens: z.int().min(0).nullish().describe('not OpenAI’s: least tokens of an answer'),
  skip_special_tokens: z.boolean().nullish().describe('not OpenAI’s: false shows special tokens'),
  ignore_eos: z
    .boolean()
    .nullish()
    .describe('not OpenAI’s: true: go on to max_tokens, whatever the model writes'),
  stop_token_ids: z
    .array(z.int().min(0))
    .max(1024)
    .nullish()
    .describe('not OpenAI’s: more of the model’s own tokens that end an answer; their text is not in it'),
  include_stop_str_in_output: neutral([false], 'answers end before a stop string'),
  spaces_between_special_tokens: neutral([true], 'tokens are decoded as the tokenizer does'),
  use_beam_search: neutral([false], 'ask POST /run with params.num_beams'),
  length_penalty: neutral([1], 'it is for beams'),
  truncate_prompt_tokens: neutral([-1], 'prompts are not cut'),
  prompt_logprobs: unsupportedField('ask completions for probabilities of a prompt'),
  num_ctx: hint(),
  num_thread: hint(),
  num_gpu: hint(),
  keep_alive: hint(),
  cache_prompt: hint(),
  priority: hint(),
  request_id: hint(),
  stream: z.boolean().nullish(),
  stream_options: z
    .strictObject({
      include_usage: z.boolean().nullish(),
      include_obfuscation: z.boolean().nullish().describe('changes nothing'),
      continuous_usage_stats: neutral([false], 'the usage comes at the end'),
    })
    .nullish(),
};

export type Sampling = z.output<z.ZodObject<typeof samplingFields>>;

/**
 * Converts OpenAI's parameters to those of the tasks.
 * @throws RunError 400 for fields that contradict each other
 */
export function generationOf(given: Sampling): Record<string, unknown> {
  const { temperature, n, seed, max_tokens, min_tokens } = given;
  const { presence_penalty, frequency_penalty, logit_bias, skip_special_tokens } = given;
  if (given.stream_options && !given.stream)
    throw new RunError('invalid_input', 'stream_options: needs stream');
  const isMultiple = (n ?? 1) > 1;
  if (isMultiple && temperature === 0)
    throw new RunError('invalid_input', 'n: several answers need a temperature above 0');
  if (max_tokens === 0) throw new RunError('invalid_input', 'max_tokens: must be at least 1');
  return dropNullish({
    ...drawingParams(given, isMultiple),
    seed: seed === -1 ? undefined : seed,
    stop: stopStrings(given.stop),
    repetition_penalty: repetitionOf(given),
    ...{ presence_penalty, frequency_penalty, logit_bias, skip_special_tokens },
    max_new_tokens: max_tokens === -1 ? undefined : max_tokens,
    min_new_tokens: min_tokens || undefined,
    ignore_eos: given.ignore_eos || undefined,
    stop_token_ids: given.stop_token_ids?.length ? given.stop_token_ids : undefined,
    num_return_sequences: isMultiple ? n : undefined,
  });
}

function repetitionOf({ repetition_penalty, repeat_penalty }: Sampling): number | null | undefined {
  if (repetition_penalty != null && repeat_penalty != null && repetition_penalty !== repeat_penalty)
    throw new RunError('invalid_input', 'repeat_penalty: contradicts repetition_penalty');
  return repetition_penalty ?? repeat_penalty;
}

/** Drops fields that are null or undefined. */
export function dropNullish(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null));
}

/**
 * Parses a request body.
 * @throws RunError 400 that names the field
 */
export function readFields<S extends z.ZodType>(schema: S, json: unknown): z.output<S> {
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  const issue = deepest(parsed.error.issues[0]!);
  const at = issue.path.join('.');
  if (issue.code === 'unrecognized_keys') {
    const name = [...issue.path, issue.keys[0]].join('.');
    throw new RunError('invalid_input', `${name}: unknown parameter`);
  }
  throw new RunError('invalid_input', at ? `${at}: ${issue.message}` : 'the body must be a JSON object');
}
