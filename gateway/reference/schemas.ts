import * as z from 'zod';
import { TASK_IDS } from '../../runtime/core/task-ids.js';
import { outputSchema, requestSchema } from '../../runtime/tasks/json-schema.js';
import { taskOf } from '../../runtime/tasks/registry.js';
import { chatBody } from '../../runtime/dialects/openai/chat.js';
import { completionBody } from '../../runtime/dialects/openai/completions.js';
import { embeddingBody } from '../../runtime/dialects/openai/embeddings.js';

/** JSON Schema, draft 2020-12. */
export type Schema = Record<string, unknown>;

export const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });

const text: Schema = { type: 'string' };
const number: Schema = { type: 'number' };
const count: Schema = { type: 'integer', minimum: 0 };
const orNull = (schema: Schema): Schema => ({ anyOf: [schema, { type: 'null' }] });
const arrayOf = (items: Schema): Schema => ({ type: 'array', items });

/** All properties are required, except for those in `optional`. */
function object(properties: Record<string, Schema>, optional: string[] = []): Schema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', properties, required };
}

export const envelopeSchema = (error: Schema, output: Schema): Schema => object({ error, output });

/** Schemas of the interface itself: requests and outputs of tasks, rows of lists, errors. */
export function taskSchemas(): Record<string, Schema> {
  const tasks = TASK_IDS.flatMap((id) => [
    [`${id}.request`, requestSchema(taskOf(id))] as const,
    [`${id}.output`, outputSchema(taskOf(id))] as const,
  ]);
  return {
    Error: envelopeSchema(text, { type: 'null' }),
    Task: { type: 'string', enum: [...TASK_IDS] },
    Model: object({
      meter: text,
      meterPrice: { ...text, description: 'dollars, as in "0.0000872083 / sec"' },
      modelId: text,
      params: { ...orNull(number), description: 'billions of parameters; null where not known' },
      ramRequired: { ...number, description: 'GB of 10^9 bytes, measured, predicted or given' },
      task: ref('Task'),
    }),
    Shorthand: {
      ...object({ input: {} }),
      description:
        'The main field, or an object of fields, under `input`: a text, an address, a data URL, messages.',
    },
    ...Object.fromEntries(tasks),
  };
}

/** Schemas of OpenAI's routes. Requests are derived from the schemas that check them. */
export function openAiSchemas(): Record<string, Schema> {
  const { $schema: _, ...chat } = z.toJSONSchema(chatBody, { io: 'input' });
  const { $schema: __, ...completion } = z.toJSONSchema(completionBody, { io: 'input' });
  const { $schema: ___, ...embedding } = z.toJSONSchema(embeddingBody, { io: 'input' });
  return {
    'openai.Error': object({
      error: object({ message: text, type: text, param: orNull(text), code: orNull(text) }),
    }),
    'openai.Usage': object({ prompt_tokens: count, completion_tokens: count, total_tokens: count }, [
      'completion_tokens',
    ]),
    'openai.Model': object({
      ...{ id: text, object: { const: 'model' }, owned_by: text },
      created: { ...count, description: 'not known: 0' },
    }),
    'openai.Models': object({ object: { const: 'list' }, data: arrayOf(ref('openai.Model')) }),
    'openai.ChatRequest': chat,
    'openai.Chat': answer('chat.completion', { message: assistantMessage, logprobs: orNull(tokens) }),
    'openai.ChatChunk': answer('chat.completion.chunk', {
      delta: object({ role: text, content: text, refusal: { type: 'null' } }, ['role', 'content', 'refusal']),
      logprobs: orNull(tokens),
    }),
    'openai.CompletionRequest': completion,
    'openai.Completion': answer('text_completion', { text, logprobs: orNull({ type: 'object' }) }),
    'openai.EmbeddingRequest': embedding,
    'openai.Embeddings': object({
      ...{ object: { const: 'list' }, model: text, usage: ref('openai.Usage') },
      data: arrayOf(
        object({
          ...{ object: { const: 'embedding' }, index: count },
          embedding: { anyOf: [arrayOf(orNull(number)), { ...text, contentEncoding: 'base64' }] },
        }),
      ),
    }),
  };
}

const tokenFields = { token: text, logprob: orNull(number), bytes: arrayOf(count) };

const tokens = object({
  content: arrayOf(object({ ...tokenFields, top_logprobs: arrayOf(object(tokenFields)) })),
  refusal: { type: 'null' },
});

const assistantMessage = object({ role: { const: 'assistant' }, content: text, refusal: { type: 'null' } });

function answer(kind: string, choice: Record<string, Schema>): Schema {
  const finish_reason = { enum: ['stop', 'length', null] };
  return object(
    {
      ...{ id: text, object: { const: kind }, created: count, model: text },
      choices: arrayOf(object({ index: count, ...choice, finish_reason })),
      usage: orNull(ref('openai.Usage')),
    },
    ['usage'],
  );
}
