import * as z from 'zod';
import { RunError } from '../../core/errors.js';

const schemaObject = z.record(z.string(), z.unknown());

/** OpenAI's `response_format`, with the forms of Hugging Face's client (`value`) and llama.cpp (`schema`). */
export const responseFormat = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text') }),
  z.strictObject({
    type: z.literal('json_object'),
    value: schemaObject.nullish(),
    schema: schemaObject.nullish(),
  }),
  z.strictObject({
    type: z.literal('json_schema'),
    json_schema: z.strictObject({
      name: z.string().nullish(),
      description: z.string().nullish(),
      schema: schemaObject.nullish(),
      strict: z.boolean().nullish(),
    }),
  }),
]);

const json = z.union([schemaObject, z.string()]).nullish();
const choice = z.array(z.string()).min(1).nullish();

/** vLLM's names of what a text must be. */
export const structuredOutputs = z.strictObject({
  json,
  regex: z.string().nullish(),
  choice,
  grammar: z.string().nullish(),
  json_object: z.boolean().nullish(),
});

/** Fields that say what an answer must look like. */
export const formatFields = {
  response_format: responseFormat.nullish(),
  structured_outputs: structuredOutputs.nullish(),
  guided_json: json,
  guided_regex: z.string().nullish(),
  guided_choice: choice,
  guided_grammar: z.string().nullish(),
};

/** What callers of OpenAI's routes call the params of formats. */
export const FORMAT_NAMES = {
  json_schema: 'response_format',
  json_object: 'response_format',
  regex: 'structured_outputs.regex',
  choices: 'structured_outputs.choice',
  grammar: 'structured_outputs.grammar',
};

type FormatFields = z.output<z.ZodObject<typeof formatFields>>;

/** Params of POST /run that keep an answer to a format; none for free text. @throws RunError 400 for several formats */
export function formatParams(given: FormatFields): Record<string, unknown> {
  const { structured_outputs: own } = given;
  const wanted: Record<string, unknown>[] = [
    fromResponseFormat(given.response_format),
    ...[own?.json, given.guided_json].map((one) => (one == null ? {} : { json_schema: schemaOf(one) })),
    ...[own?.regex, given.guided_regex].map((regex) => (regex == null ? {} : { regex })),
    ...[own?.choice, given.guided_choice].map((choices) => (choices == null ? {} : { choices })),
    ...[own?.grammar, given.guided_grammar].map((grammar) => (grammar == null ? {} : { grammar })),
    own?.json_object ? { json_object: true } : {},
  ].filter((params) => Object.keys(params).length > 0);
  if (wanted.length > 1)
    throw new RunError('invalid_input', 'response_format: contradicts another format of the same request');
  return wanted[0] ?? {};
}

function fromResponseFormat(format: FormatFields['response_format']): Record<string, unknown> {
  if (format == null || format.type === 'text') return {};
  if (format.type === 'json_object') {
    const schema = format.schema ?? format.value;
    return schema == null ? { json_object: true } : { json_schema: schema };
  }
  const { schema } = format.json_schema;
  return schema == null ? { json_object: true } : { json_schema: schema };
}

/** vLLM takes a schema as JSON text, too. */
function schemaOf(given: Record<string, unknown> | string): unknown {
  if (typeof given !== 'string') return given;
  try {
    return JSON.parse(given) as unknown;
  } catch {
    throw new RunError('invalid_input', 'guided_json: is no JSON');
  }
}
