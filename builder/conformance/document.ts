import * as z from 'zod';

const schema = z.record(z.string(), z.unknown());
const json = <T extends z.ZodType>(content: T) =>
  z.object({ content: z.object({ 'application/json': content }) });

/** What the checks read of a server's /openapi.json. */
const document = z.object({
  openapi: z.string().startsWith('3.1.'),
  info: z.object({ title: z.string(), version: z.string() }),
  paths: z.object({
    '/run': z.object({
      post: z.object({
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
      }),
    }),
  }),
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
}

/** @throws z.ZodError for a document that does not describe POST /run */
export function parseDocument(value: unknown): Described {
  const { info, paths } = document.parse(value);
  const { operationId, requestBody, responses, 'x-slipway': form } = paths['/run'].post;
  const { schema: request, example } = requestBody.content['application/json'];
  const fields = propertiesOf(request);
  return {
    ...{ model: info.title, task: operationId, version: info.version },
    ...{ request, example, fields },
    response: responses[200].content['application/json'].schema,
    params: propertiesOf(fields['params'] ?? {}),
    streams: form?.streams ?? false,
    makes: form?.makes,
  };
}

function propertiesOf(of: Schema): Record<string, Schema> {
  return z.record(z.string(), schema).catch({}).parse(of['properties']);
}
