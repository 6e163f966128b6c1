import * as z from 'zod';
import { RunError } from '../../core/errors.js';
import { dropNullish, hint, neutral, unsupportedField } from '../fields.js';
import { drawingParams, stopStrings } from '../sampling.js';

const stop = z.union([z.string(), z.array(z.string()).max(16)]).nullish();
const positive = z.number().positive().nullish();
const probability = z.number().min(0).max(1).nullish();

/** Ollama's `options`. Those of its own engine change nothing here. */
export const optionsBody = z.strictObject({
  temperature: z.number().min(0).nullish().describe('greedy by default'),
  top_k: z.int().min(0).nullish(),
  top_p: probability,
  min_p: probability,
  typical_p: probability,
  num_predict: z.int().min(-2).nullish().describe('-1 and -2: the repository’s limit, else 256'),
  seed: z.int().nullish(),
  stop,
  repeat_penalty: positive,
  repeat_last_n: z.int().min(-1).nullish().describe('with a repeat_penalty only -1: all tokens count'),
  presence_penalty: z.number().min(-2).max(2).nullish(),
  frequency_penalty: z.number().min(-2).max(2).nullish(),
  mirostat: neutral([0], 'tokens are drawn by temperature, top_k and top_p'),
  tfs_z: neutral([1], 'tokens are drawn by temperature, top_k and top_p'),
  mirostat_eta: hint(),
  mirostat_tau: hint(),
  penalize_newline: neutral([true], 'all tokens are penalised alike'),
  num_keep: hint(),
  num_ctx: hint(),
  num_batch: hint(),
  num_gpu: hint(),
  main_gpu: hint(),
  num_thread: hint(),
  low_vram: hint(),
  f16_kv: hint(),
  logits_all: hint(),
  vocab_only: hint(),
  use_mmap: hint(),
  use_mlock: hint(),
  numa: hint(),
  draft_num_predict: hint(),
});

/** Params of generate() for Ollama's options. @throws RunError 400 */
export function optionParams(options: z.output<typeof optionsBody>): Record<string, unknown> {
  const { seed, repeat_penalty, num_predict, repeat_last_n, presence_penalty, frequency_penalty } = options;
  if ((repeat_penalty ?? 1) !== 1 && (repeat_last_n ?? -1) !== -1)
    throw new RunError('invalid_input', 'options.repeat_last_n: only -1 is supported, all tokens count');
  return dropNullish({
    ...drawingParams(options),
    ...{ presence_penalty, frequency_penalty },
    seed: seed == null || seed < 0 ? undefined : seed,
    repetition_penalty: repeat_penalty,
    stop: stopStrings(options.stop),
    max_new_tokens: num_predict == null || num_predict < 0 ? undefined : num_predict,
  });
}

/** `json`, a schema, or nothing. */
export const formatField = z.union([z.enum(['', 'json']), z.record(z.string(), z.unknown())]).nullish();

export function formatOf(format: z.output<typeof formatField>): Record<string, unknown> {
  if (format == null || format === '') return {};
  return format === 'json' ? { json_object: true } : { json_schema: format };
}

/** How the model thinks: on, off, or how much. */
export const thinkField = z.union([z.boolean(), z.enum(['low', 'medium', 'high'])]).nullish();

export function thinkingOf(think: z.output<typeof thinkField>): Record<string, unknown> {
  if (think == null) return {};
  return typeof think === 'boolean' ? { enable_thinking: think } : { reasoning_effort: think };
}

/** Fields of all requests that write text. */
export const sharedFields = {
  model: z.string().nullish(),
  stream: z.boolean().nullish().describe('true by default'),
  format: formatField,
  options: optionsBody.nullish(),
  think: thinkField,
  keep_alive: hint(),
  logprobs: neutral([false], 'ask the OpenAI route'),
  top_logprobs: neutral([0], 'ask the OpenAI route'),
  truncate: hint(),
  shift: hint(),
};

const image = z.string().min(1).describe('an image in Base64');

export const toolCall = z.looseObject({
  id: z.string().nullish(),
  function: z.looseObject({ name: z.string(), arguments: z.record(z.string(), z.unknown()).nullish() }),
});

export const messageField = z.looseObject({
  role: z.enum(['system', 'user', 'assistant', 'tool']),
  content: z.string().nullish(),
  thinking: z.string().nullish(),
  images: z.array(image).nullish(),
  tool_calls: z.array(toolCall).nullish(),
  tool_name: z.string().nullish(),
  tool_call_id: z.string().nullish(),
});

export const generateBody = z.strictObject({
  ...sharedFields,
  prompt: z.string().nullish(),
  system: z.string().nullish(),
  images: z.array(image).nullish(),
  raw: z.boolean().nullish(),
  suffix: neutral([''], 'models here only continue a text'),
  template: neutral([''], 'the model’s own chat template is used'),
  context: neutral([[]], 'send the conversation to /api/chat'),
  width: unsupportedField('this makes texts'),
  height: unsupportedField('this makes texts'),
  steps: unsupportedField('this makes texts'),
});
