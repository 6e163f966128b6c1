import * as z from 'zod';

const schema = z.record(z.string(), z.unknown());
const json = <T extends z.ZodType>(content: T) =>
  z.object({ content: z.object({ 'application/json': content }) });

/** What the checks read of a server's /openapi.json. */
const document = z.object({
  openapi: z.string().startsWith('3.1.'),
  info: z.object({ title: z.string(), version: z.string() }),
  paths: z.record(z.string(), schema),
});

/** The operation that asks the model: POST /run, and behind a gateway POST to the model's address. */
const run = z.object({
  operationId: z.string(),
  'x-slipway': z
    .object({
      streams: z.boolean().optional(),
      makes: z.string().optional(),
      modality: z.string().optional(),
    })
    .optional(),
  requestBody: json(z.object({ schema, example: schema })),
  responses: z.object({ 200: json(z.object({ schema })) }),
});

export type Schema = Readonly<Record<string, unknown>>;

/** A model as its server describes it. */
export interface Described {
  model: string;
  task: string;
  version: string;
  /** Of the whole body of POST /run. */
  request: Schema;
  /** Of the envelope of an answer. */
  response: Schema;
  example: Record<string, unknown>;
  /** Schemas of the fields of the body, `params` and flags included. */
  fields: Readonly<Record<string, Schema>>;
  /** Schemas of the parameters. */
  params: Readonly<Record<string, Schema>>;
  streams: boolean;
  /** The kind of medium that it makes, such as `image`. */
  makes: string | undefined;
  /** All of its routes, such as `GET /v1/models/{id}`. */
  operations: ReadonlySet<string>;
}

/** @throws z.ZodError for a document that does not describe POST /run */
export function parseDocument(value: unknown): Described {
  const { info, paths } = document.parse(value);
  const operation = (paths['/run'] ?? paths['/'])?.['post'];
  const { operationId, requestBody, responses, 'x-slipway': form } = run.parse(operation);
  const { schema: request, example } = requestBody.content['application/json'];
  const fields = propertiesOf(request);
  return {
    ...{ model: info.title, task: operationId, version: info.version },
    ...{ request, example, fields },
    response: responses[200].content['application/json'].schema,
    params: propertiesOf(fields['params'] ?? {}),
    streams: form?.streams ?? false,
    makes: form?.makes,
    operations: operationsOf(paths),
  };
}

function operationsOf(paths: Record<string, Schema>): Set<string> {
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  return new Set(all);
}

function propertiesOf(of: Schema): Record<string, Schema> {
  return z.record(z.string(), schema).catch({}).parse(of['properties']);
}
