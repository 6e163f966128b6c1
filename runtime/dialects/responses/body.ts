import * as z from 'zod';
import { hint, modelField, neutral, unsupportedField } from '../fields.js';

const part = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('input_text'), text: z.string() }),
  z.looseObject({ type: z.literal('output_text'), text: z.string() }),
  z.looseObject({ type: z.literal('refusal'), refusal: z.string() }),
  z.looseObject({ type: z.literal('input_image'), image_url: z.string().min(1) }),
  z.looseObject({ type: z.literal('input_audio'), input_audio: z.looseObject({ data: z.string().min(1) }) }),
]);

export type Part = z.output<typeof part>;

const message = z.looseObject({
  type: z.literal('message').nullish(),
  role: z.enum(['developer', 'system', 'user', 'assistant']),
  content: z.union([z.string(), z.array(part)]),
});

const call = z.looseObject({
  type: z.literal('function_call'),
  call_id: z.string(),
  name: z.string(),
  arguments: z.string(),
});

const result = z.looseObject({
  type: z.literal('function_call_output'),
  call_id: z.string(),
  output: z.union([z.string(), z.array(part)]),
});

const reasoning = z.looseObject({
  type: z.literal('reasoning'),
  content: z.array(z.looseObject({ text: z.string() })).nullish(),
});

const item = z.union([call, result, reasoning, message]);

export type Item = z.output<typeof item>;

const tool = z.looseObject({
  type: z.literal('function', { error: 'can only be function: no tools are run here' }),
  name: z.string(),
  description: z.string().nullish(),
  parameters: z.record(z.string(), z.unknown()).nullish(),
  strict: z.boolean().nullish(),
});

const named = z.object({ type: z.literal('function'), name: z.string() });

const toolChoice = z.union([
  z.enum(['none', 'auto', 'required']),
  named,
  z.object({
    type: z.literal('allowed_tools'),
    mode: z.enum(['auto', 'required']),
    tools: z.array(named),
  }),
]);

const format = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text') }),
  z.looseObject({ type: z.literal('json_object') }),
  z.looseObject({ type: z.literal('json_schema'), schema: z.record(z.string(), z.unknown()) }),
]);

/** POST v1/responses. */
export const responsesBody = z.strictObject({
  model: modelField,
  input: z.union([z.string(), z.array(item).min(1)]),
  instructions: z.string().nullish(),
  tools: z.array(tool).nullish(),
  tool_choice: toolChoice.nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  text: z.strictObject({ format: format.nullish(), verbosity: hint() }).nullish(),
  max_output_tokens: z.int().min(1).nullish(),
  temperature: z.number().min(0).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  reasoning: z
    .strictObject({ effort: z.string().nullish(), summary: hint(), generate_summary: hint() })
    .nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.strictObject({ include_obfuscation: hint() }).nullish(),
  store: hint('nothing is ever stored'),
  include: hint(),
  metadata: z.record(z.string(), z.unknown()).nullish(),
  truncation: neutral(['disabled'], 'prompts are not cut'),
  background: neutral([false], 'answers are not kept'),
  top_logprobs: neutral([0], 'ask chat/completions for logprobs'),
  max_tool_calls: hint('no tools are run here'),
  user: hint(),
  service_tier: hint(),
  safety_identifier: hint(),
  prompt_cache_key: hint(),
  prompt_cache_retention: hint(),
  client_metadata: hint(),
  previous_response_id: unsupportedField('nothing is stored; send the conversation as input'),
  conversation: unsupportedField('nothing is stored; send the conversation as input'),
  prompt: unsupportedField('nothing is stored; send the prompt as input'),
});

export type ResponsesBody = z.output<typeof responsesBody>;
