import { dialectPaths } from '../dialects/openapi.js';
import { CONSOLE_CODES, STATUS } from '../core/errors.js';
import type { ModelSpec } from '../core/spec.js';
import type { TaskId } from '../core/task-ids.js';
import type { AnyTask } from '../tasks/define.js';
import { outputSchema, requestSchema, type Schema } from '../tasks/json-schema.js';
import { taskOf } from '../tasks/registry.js';

/** OpenAPI 3.1 document of the server of this model. */
export function openApiOf(spec: Pick<ModelSpec, 'id' | 'task' | 'commit'>, version: string): object {
  const task = taskOf(spec.task);
  return {
    openapi: '3.1.0',
    info: {
      title: spec.id,
      version,
      description: `${task.summary} Model ${spec.id} at ${spec.commit}, task ${spec.task}.`,
    },
    paths: {
      '/run': { post: runOperation(spec.task, task) },
      '/health': { get: plain('Ready to answer', ['200', '503']) },
      '/livez': { get: plain('The process is alive', ['200']) },
      '/status': { get: plain('State, progress, device, memory', ['200']) },
      '/version': {
        get: {
          summary: 'Version of the server',
          responses: { 200: { description: '`{"version": …}`', content: { 'application/json': {} } } },
        },
      },
      '/metrics': {
        get: {
          summary: 'Metrics for Prometheus',
          responses: { 200: { description: 'text', content: { 'text/plain': {} } } },
        },
      },
      ...dialectPaths(spec.task),
    },
    components: {
      schemas: { Error: envelope({ type: 'string' }, { type: 'null' }) },
      securitySchemes: { key: KEY_SCHEME },
    },
    security: [{}, { key: [] }],
  };
}

/** How a key is sent. */
export const KEY_SCHEME: Schema = {
  type: 'apiKey',
  in: 'header',
  name: 'Authorization',
  description: 'The word `Key` or `Bearer`, a blank, and the key.',
};

/** A call of the model. */
export function runOperation(id: TaskId, task: AnyTask): Schema {
  const stream = {
    ...(task.streams ? { 'text/plain': { schema: { type: 'string' } } } : {}),
    ...(task.streams || task.tellsSteps ? { 'text/event-stream': {} } : {}),
  };
  const raw = task.makes ? { [`${task.makes}/*`]: { schema: { type: 'string', format: 'binary' } } } : {};
  return {
    summary: task.title,
    operationId: id,
    'x-slipway': formOf(task),
    requestBody: {
      required: true,
      description:
        'Also taken: the main field, or an object of fields, under `input`; an image, as a URL or data URL, under `image`.',
      content: { 'application/json': { schema: requestSchema(task), example: task.example } },
    },
    responses: {
      200: {
        description: 'The answer',
        content: {
          'application/json': { schema: envelope({ type: 'null' }, outputSchema(task)) },
          ...stream,
          ...raw,
        },
      },
      ...errorResponses(),
    },
  };
}

/** What the schemas do not say of a task, for pages that draw a form from this document. */
function formOf({ modality, blocks, makes, streams, tellsSteps }: AnyTask): Schema {
  return {
    modality,
    ...(blocks ? { blocks } : {}),
    ...(makes ? { makes } : {}),
    streams,
    steps: Boolean(tellsSteps),
  };
}

function errorResponses(): Schema {
  const rows: Record<string, Schema> = {};
  for (const [code, status] of Object.entries(STATUS)) {
    if (NOT_FROM_RUN.has(code)) continue;
    const codes = [rows[status]?.['description'], code].filter(Boolean).join(', ');
    rows[status] = errorResponse(codes);
  }
  return rows;
}

/** Error codes that POST /run never returns. */
const NOT_FROM_RUN = new Set([
  ...['not_found', 'method_not_allowed', 'rate_limited', 'remote_failed', 'cancelled'],
  ...CONSOLE_CODES,
]);

function errorResponse(description: string): Schema {
  return { description, content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } } };
}

function envelope(error: Schema, output: Schema): Schema {
  return { type: 'object', required: ['error', 'output'], properties: { error, output } };
}

function plain(summary: string, statuses: string[]): Schema {
  const schema = envelope({ type: ['string', 'null'] }, {});
  return {
    summary,
    responses: Object.fromEntries(
      statuses.map((status) => [
        status,
        { description: summary, content: { 'application/json': { schema } } },
      ]),
    ),
  };
}
