import type { Schema } from './schema.js';

export type Json = unknown;

export interface Field {
  name: string;
  schema: Schema;
  required: boolean;
}

/** What the page knows of its model, all of it from the model's own OpenAPI document. */
export interface Described {
  model: string;
  summary: string;
  title: string;
  /** The task: as in `x-slipway`. */
  task: string;
  /** What the request has at its top: a text, a medium, messages, or nothing. */
  modality: string;
  /** Media that messages may hold. */
  blocks?: string;
  /** What the answer is, if it is a medium. */
  makes?: string;
  /** The answer comes in pieces of text. */
  streams: boolean;
  /** The work has steps that are told. */
  steps: boolean;
  fields: Field[];
  params: Field[];
  example: Record<string, Json>;
  /** Where a call is sent, relative to the page. */
  run: string;
  /** Paths that the server answers. */
  paths: string[];
}

interface OpenApi {
  info: { title: string; description: string };
  paths: Record<string, { post?: Operation }>;
}

interface Operation {
  summary: string;
  operationId: string;
  'x-slipway': Pick<Described, 'modality' | 'blocks' | 'makes' | 'streams' | 'steps'>;
  requestBody: { content: { 'application/json': { schema: Schema; example: Record<string, Json> } } };
}

/** Keys that say how an answer is sent; the page chooses them itself. */
const FORM = new Set(['stream', 'json', 'params']);

/** The server tells what it has to those only who have a key. */
export class KeyNeeded extends Error {}

/** @throws KeyNeeded; Error when the server does not answer with a document */
export async function describe(key: string): Promise<Described> {
  const response = await fetch('openapi.json', { headers: key ? { Authorization: `Key ${key}` } : {} });
  if (response.status === 401)
    throw new KeyNeeded(key ? 'This key is not known.' : 'This server wants a key.');
  if (!response.ok) throw new Error(`the description of this model can't be read (${response.status})`);
  return describedBy((await response.json()) as OpenApi);
}

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
