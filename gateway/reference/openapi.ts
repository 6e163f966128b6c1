import { STATUS } from '../../runtime/core/errors.js';
import { USAGE_HEADERS } from '../../runtime/core/usage.js';
import { SUPPORTED_TASKS, taskOf } from '../../runtime/tasks/registry.js';
import { envelopeSchema, openAiSchemas, ref, type Schema, taskSchemas } from './schemas.js';

/** OpenAPI 3.1 document of the hosted interface, whatever models are behind it. */
export function hostedOpenApi(version: string): Schema {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Hosted models',
      version,
      description:
        'Many models behind one address. A model that sleeps is started by its first call, which waits for it.',
    },
    paths: {
      '/models/v2/{org}/{name}': { post: run() },
      '/models/v2/list/models': { get: listModels() },
      '/models/v2/list/tasks': { get: listTasks() },
      ...openAiPaths(),
      '/health': { get: open('Ready to take calls') },
      '/livez': { get: open('The process is alive') },
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

/** What an answer of a model says beside its body. */
const HEADERS: Record<string, Schema> = {
  'inference-meter': header('tier of the model'),
  'inference-meter-price': header('dollars, as in "0.0000872083 / sec"'),
  'inference-time': header('seconds that the model worked; of a stream, until its first piece'),
  'inference-cost': header('dollars'),
  'inference-cold-start': header('`true` where the model had to be started for this call'),
  [USAGE_HEADERS.tokensIn]: header('tokens that the model has read, where it counts them; not of streams'),
  [USAGE_HEADERS.tokensOut]: header('tokens that it has made'),
  [USAGE_HEADERS.finish]: header('`stop` or `length`; of several answers one after the other'),
};

const headers = Object.fromEntries(
  Object.keys(HEADERS).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
);

function run(): Schema {
  const requests = [...SUPPORTED_TASKS.map((id) => ref(`${id}.request`)), ref('Shorthand')];
  const outputs = { anyOf: SUPPORTED_TASKS.map((id) => ref(`${id}.output`)) };
  const examples = Object.fromEntries(
    SUPPORTED_TASKS.map((id) => [id, { summary: taskOf(id).title, value: taskOf(id).example }]),
  );
  return {
    summary: 'Ask a model',
    description:
      'What the body holds and what comes out depends on the task of the model, which list/models tells.',
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
            schema: { type: 'string', description: 'with `stream: true`: the text, as it comes' },
          },
          'text/event-stream': {
            schema: { type: 'string', description: 'the same as events, where Accept asks for them' },
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
        description: 'Their rows, by their ids',
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
      post: openAi('Chat', { takes: 'ChatRequest', chunk: 'ChatChunk', example: CHAT }),
    },
    [`${base}/completions`]: {
      post: openAi('Completion', { takes: 'CompletionRequest', chunk: 'Completion', example: COMPLETION }),
    },
    [`${base}/embeddings`]: { post: openAi('Embeddings', { takes: 'EmbeddingRequest', example: EMBEDDING }) },
    [`${base}/models`]: { get: openAi('Models', {}) },
    [`${base}/models/{id}`]: {
      get: {
        ...openAi('Model', {}),
        parameters: [{ ...id, description: 'its slash as it is, or as %2F' }],
      },
    },
  };
}

const CHAT = { model: 'org/name', messages: [{ role: 'user', content: 'Hello, who are you?' }] };
const COMPLETION = { model: 'org/name', prompt: 'Once upon a time', max_tokens: 20 };
const EMBEDDING = { model: 'org/name', input: ['A quiet river', 'runs through the valley'] };

const SUMMARIES = {
  Chat: 'Go on with a conversation, in OpenAI’s words',
  Completion: 'Go on with a text, in OpenAI’s words',
  Embeddings: 'Vectors of texts, in OpenAI’s words',
  Models: 'The models that these three ask',
  Model: 'One of them',
};

interface Dialect {
  takes?: string;
  /** Of a stream's events. */
  chunk?: string;
  example?: object;
}

function openAi(gives: keyof typeof SUMMARIES, { takes, chunk, example }: Dialect): Schema {
  const stream = chunk && {
    'text/event-stream': {
      schema: { type: 'string', description: `events of openai.${chunk}, and [DONE] at the end` },
    },
  };
  return {
    summary: SUMMARIES[gives],
    operationId: `openai${gives}`,
    ...(takes ? { requestBody: { required: true, content: json(ref(`openai.${takes}`), { example }) } } : {}),
    responses: {
      200: {
        description: 'The answer',
        ...(takes ? { headers } : {}),
        content: { ...json(ref(`openai.${gives}`)), ...stream },
      },
      ...errors('openai.Error', takes ? undefined : [401, 404, 405, 429]),
    },
  };
}

function open(summary: string): Schema {
  const content = json(envelopeSchema({ type: 'null' }, { type: 'string' }));
  return { summary, security: [], responses: { 200: { description: summary, content } } };
}

/** Statuses whose answers say when to come back. */
const COME_BACK: ReadonlySet<number> = new Set([STATUS.rate_limited, STATUS.overloaded]);

/** @param only statuses; absent: all that a call of a model may end with */
function errors(schema: string, only?: readonly number[]): Schema {
  const codes = Object.entries(STATUS).filter(([code]) => code !== 'cancelled');
  const statuses = new Set(codes.map(([, status]) => status));
  const later = { headers: { 'Retry-After': { description: 'seconds', schema: { type: 'integer' } } } };
  return Object.fromEntries(
    [...statuses]
      .filter((status) => !only || only.includes(status))
      .map((status) => [
        status,
        {
          description: codes.flatMap(([code, its]) => (its === status ? [code] : [])).join(', '),
          ...(COME_BACK.has(status) ? later : {}),
          content: json(ref(schema)),
        },
      ]),
  );
}
