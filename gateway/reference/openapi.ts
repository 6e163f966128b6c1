import { TASK_IDS } from '../../runtime/core/task-ids.js';
import { CONSOLE_CODES, STATUS } from '../../runtime/core/errors.js';
import { USAGE_HEADERS } from '../../runtime/core/usage.js';
import { taskOf } from '../../runtime/tasks/registry.js';
import { envelopeSchema, openAiSchemas, ref, type Schema, taskSchemas } from './schemas.js';

/** OpenAPI 3.1 document of the hosted interface, the same for all catalogues. */
export function hostedOpenApi(version: string): Schema {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Hosted models',
      version,
      description:
        'Many models behind one address. A model that is not running is started by its first call, which waits for it.',
    },
    paths: {
      '/models/v2/{org}/{name}': { post: run() },
      '/models/v2/list/models': { get: listModels() },
      '/models/v2/list/tasks': { get: listTasks() },
      ...openAiPaths(),
      '/health': { get: openRoute('Ready to take calls') },
      '/livez': { get: openRoute('The process is alive') },
      '/version': {
        get: {
          ...openRoute('Version of the gateway'),
          responses: { 200: { description: '`{"version": …}`', content: { 'application/json': {} } } },
        },
      },
    },
    components: {
      schemas: { ...taskSchemas(), ...openAiSchemas() },
      headers: HEADERS,
      securitySchemes: {
        key: {
          ...{ type: 'apiKey', in: 'header', name: 'Authorization' },
          description: 'The bare key, `Key <key>` or `Bearer <key>`.',
        },
      },
    },
    security: [{ key: [] }],
  };
}

const json = (schema: Schema, more: Schema = {}): Schema => ({ 'application/json': { schema, ...more } });

const header = (description: string): Schema => ({ description, schema: { type: 'string' } });

/** Response headers of model answers. */
const HEADERS: Record<string, Schema> = {
  'inference-meter': header('tier of the model'),
  'inference-meter-price': header('dollars, as in "0.0000872083 / sec"'),
  'inference-time': header('seconds that the model worked; for a stream, until its first chunk'),
  'inference-cost': header('dollars'),
  'inference-cold-start': header('`true` if the model was started for this call'),
  [USAGE_HEADERS.tokensIn]: header('tokens that the model read, if it counts them; not for streams'),
  [USAGE_HEADERS.tokensOut]: header('tokens that it generated'),
  [USAGE_HEADERS.reasoningTokens]: header('those of them that it thought with, where they are told apart'),
  [USAGE_HEADERS.finish]: header('`stop`, `length` or `tool_calls`; for several answers, one each'),
  [USAGE_HEADERS.stops]: header('which of `params.stop` ended each answer, from 0 on, or `-`; where one did'),
};

const headers = Object.fromEntries(
  Object.keys(HEADERS).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
);

function run(): Schema {
  const requests = [...TASK_IDS.map((id) => ref(`${id}.request`)), ref('Shorthand')];
  const outputs = { anyOf: TASK_IDS.map((id) => ref(`${id}.output`)) };
  const examples = Object.fromEntries(
    TASK_IDS.map((id) => [id, { summary: taskOf(id).title, value: taskOf(id).example }]),
  );
  return {
    summary: 'Ask a model',
    description: 'Body and output depend on the task of the model, which list/models shows.',
    operationId: 'run',
    parameters: ['org', 'name'].map((name) => ({
      ...{ name, in: 'path', required: true },
      schema: { type: 'string', pattern: '^[\\w.-]+$' },
    })),
    requestBody: { required: true, content: json({ anyOf: requests }, { examples }) },
    responses: {
      200: {
        ...{ description: 'The answer', headers },
        content: {
          ...json(envelopeSchema({ type: 'null' }, outputs)),
          'text/plain': {
            schema: { type: 'string', description: 'with `stream: true`: the text as it is generated' },
          },
          'text/event-stream': {
            schema: {
              type: 'string',
              description:
                'the same as events, if the Accept header asks for them; images and videos that are made step by step: the steps, then the medium',
            },
          },
        },
      },
      ...errors('Error'),
    },
  };
}

function listModels(): Schema {
  const query = (name: string, schema: Schema) => ({ name, in: 'query', required: false, schema });
  return {
    summary: 'List the models',
    operationId: 'listModels',
    parameters: [query('task', ref('Task')), query('modelId', { type: 'string' })],
    responses: {
      200: {
        description: 'The models, sorted by id',
        content: json(envelopeSchema({ type: 'null' }, { type: 'array', items: ref('Model') })),
      },
      ...errors('Error', [400, 401, 405, 429]),
    },
  };
}

function listTasks(): Schema {
  const output = { type: 'array', items: ref('Task') };
  return {
    summary: 'List the tasks of the interface',
    operationId: 'listTasks',
    responses: {
      200: { description: 'Their names', content: json(envelopeSchema({ type: 'null' }, output)) },
      ...errors('Error', [401, 405, 429]),
    },
  };
}

function openAiPaths(): Record<string, Schema> {
  const base = '/models/v2/openai/v1';
  const id = { name: 'id', in: 'path', required: true, schema: { type: 'string' } };
  return {
    [`${base}/chat/completions`]: {
      post: openAi('Chat', { request: 'ChatRequest', chunk: 'ChatChunk', example: CHAT }),
    },
    [`${base}/completions`]: {
      post: openAi('Completion', { request: 'CompletionRequest', chunk: 'Completion', example: COMPLETION }),
    },
    [`${base}/embeddings`]: {
      post: openAi('Embeddings', { request: 'EmbeddingRequest', example: EMBEDDING }),
    },
    [`${base}/models`]: { get: openAi('Models', {}) },
    [`${base}/models/{id}`]: {
      get: {
        ...openAi('Model', {}),
        parameters: [{ ...id, description: 'with its slash, or with %2F' }],
      },
    },
  };
}

const CHAT = { model: 'org/name', messages: [{ role: 'user', content: 'Hello, who are you?' }] };
const COMPLETION = { model: 'org/name', prompt: 'Once upon a time', max_tokens: 20 };
const EMBEDDING = { model: 'org/name', input: ['A quiet river', 'runs through the valley'] };

const SUMMARIES = {
  Chat: 'Continue a conversation; OpenAI’s interface',
  Completion: 'Continue a text; OpenAI’s interface',
  Embeddings: 'Embed texts; OpenAI’s interface',
  Models: 'List the models of these three routes',
  Model: 'Show one of them',
};

interface OpenAiOperation {
  /** Schema of the request. */
  request?: string;
  /** Schema of a stream's events. */
  chunk?: string;
  example?: object;
}

function openAi(name: keyof typeof SUMMARIES, { request, chunk, example }: OpenAiOperation): Schema {
  const stream = chunk && {
    'text/event-stream': {
      schema: { type: 'string', description: `events of openai.${chunk}, and [DONE] at the end` },
    },
  };
  return {
    summary: SUMMARIES[name],
    operationId: `openai${name}`,
    ...(request
      ? { requestBody: { required: true, content: json(ref(`openai.${request}`), { example }) } }
      : {}),
    responses: {
      200: {
        description: 'The answer',
        ...(request ? { headers } : {}),
        content: { ...json(ref(`openai.${name}`)), ...stream },
      },
      ...errors('openai.Error', request ? undefined : [401, 404, 405, 429]),
    },
  };
}

function openRoute(summary: string): Schema {
  const content = json(envelopeSchema({ type: 'null' }, { type: 'string' }));
  return { summary, security: [], responses: { 200: { description: summary, content } } };
}

/** Statuses that come with Retry-After. */
const RETRY_STATUSES: ReadonlySet<number> = new Set([STATUS.rate_limited, STATUS.overloaded]);

/** @param only statuses to include; by default all that a model call may end with */
function errors(schema: string, only?: readonly number[]): Schema {
  const codes = Object.entries(STATUS).filter(([code]) => code !== 'cancelled' && !CONSOLE_CODES.has(code));
  const statuses = new Set(codes.map(([, status]) => status));
  const retryAfter = { headers: { 'Retry-After': { description: 'seconds', schema: { type: 'integer' } } } };
  return Object.fromEntries(
    [...statuses]
      .filter((status) => !only || only.includes(status))
      .map((status) => [
        status,
        {
          description: codes.flatMap(([code, other]) => (other === status ? [code] : [])).join(', '),
          ...(RETRY_STATUSES.has(status) ? retryAfter : {}),
          content: json(ref(schema)),
        },
      ]),
  );
}
