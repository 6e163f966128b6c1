import type { Form, OpenApi } from './document.js';
import type { Schema } from './schema.js';

export type Json = unknown;

export interface Field {
  name: string;
  schema: Schema;
  required: boolean;
}

/** What the page knows of its model, all of it from the model's own OpenAPI document. */
export interface Described extends Form {
  model: string;
  summary: string;
  title: string;
  /** The task: as in `x-slipway`. */
  task: string;
  fields: Field[];
  params: Field[];
  example: Record<string, Json>;
  /** Where a call is sent, relative to the page. */
  run: string;
  /** Paths that the server answers. */
  paths: string[];
}

/** Keys that say how an answer is sent; the page chooses them itself. */
const FORM = new Set(['stream', 'json', 'params']);

export function describedBy({ info, paths }: OpenApi): Described {
  const [path, call] = Object.entries(paths).find(([, { post }]) => post && 'x-slipway' in post)!;
  const operation = call.post!;
  const { schema, example } = operation.requestBody.content['application/json'];
  const fields = fieldsOf(schema);
  const params = fields.find(({ name }) => name === 'params');
  return {
    ...operation['x-slipway'],
    model: info.title,
    summary: info.description.split('. ')[0]!.replace(/\.?$/, '.'),
    title: operation.summary,
    task: operation.operationId,
    fields: fields.filter(({ name }) => !FORM.has(name)),
    params: params ? fieldsOf(params.schema) : [],
    example,
    run: path === '/' ? './' : path.slice(1),
    paths: Object.keys(paths),
  };
}

function fieldsOf({ properties = {}, required = [] }: Schema): Field[] {
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    schema,
    required: required.includes(name),
  }));
}
