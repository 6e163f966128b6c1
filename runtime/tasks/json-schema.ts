import * as z from 'zod';
import type { AnyTask } from './define.js';

export type Schema = Record<string, unknown>;

/** JSON Schema (draft 2020-12, as in OpenAPI 3.1) of a task's request, with the keys that all tasks share. */
export function requestSchema(task: AnyTask): Schema {
  const own = toSchema(task.input, 'input');
  const stream = task.streams ? 'answer in pieces of plain text' : task.tellsSteps ? STEPS_FLAG : undefined;
  const shared = stream ? { stream: { type: 'boolean', description: stream, default: false } } : {};
  const raw = task.makes
    ? { json: { type: 'boolean', description: 'true: the medium as it is, not in the envelope' } }
    : {};
  const properties = { ...(own['properties'] as Schema), ...shared, ...raw };
  return { ...own, properties, ...('url' in properties ? ONE_OF_MEDIA : {}) };
}

const STEPS_FLAG = 'tell the steps as events, where the Accept header asks for text/event-stream';

/** Tasks check this by a function, which is missing in the generated schema. */
const ONE_OF_MEDIA = { anyOf: [{ required: ['url'] }, { required: ['base64'] }] };

export function outputSchema(task: AnyTask): Schema {
  return toSchema(task.output, 'output');
}

/** The type of a field in words, for the generated pages. */
export function typeText(schema: Schema): string {
  const { enum: values, const: value, anyOf, oneOf, type, items } = schema as TypedSchema;
  if (values) return values.map((one) => `\`${String(one)}\``).join(', ');
  if (value !== undefined) return `\`${String(value)}\``;
  const options = anyOf ?? oneOf;
  if (options) return [...new Set(options.map(typeText))].join(' or ');
  if (type === 'array') return `array of ${typeText(items ?? {})}`;
  return [type ?? 'any'].flat().join(' or ');
}

interface TypedSchema {
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  type?: string | string[];
  items?: Schema;
}

function toSchema(schema: z.ZodType, io: 'input' | 'output'): Schema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    target: 'draft-2020-12',
    io,
    unrepresentable: 'any',
  });
  return rest;
}
