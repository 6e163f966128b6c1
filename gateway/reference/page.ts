import { TASK_IDS } from '../../runtime/core/task-ids.js';
import { CONSOLE_CODES, STATUS } from '../../runtime/core/errors.js';
import { typeText } from '../../runtime/tasks/json-schema.js';
import { taskOf } from '../../runtime/tasks/registry.js';
import type { Schema } from './schemas.js';

/** A block of the reference page. In texts and cells, backticks mark code. */
export type Block =
  | { heading: string }
  | { text: string }
  | { code: string; language: string }
  | { head: readonly string[]; rows: readonly (readonly string[])[] };

interface Operation {
  summary: string;
  security?: unknown[];
}

interface OpenApiDocument {
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, { properties?: Record<string, Schema>; required?: string[] }>;
    headers: Record<string, { description: string }>;
  };
}

/** The reference page of the hosted interface, generated from its OpenAPI document so that the two can't differ. */
export function referencePage(document: Schema): Block[] {
  const { paths, components } = document as unknown as OpenApiDocument;
  return [
    { text: 'Many models behind one address: list them, ask them, or use OpenAI’s clients.' },
    { code: START, language: 'sh' },
    { heading: 'Routes' },
    {
      text: 'The same for machines: `GET /openapi.json`, OpenAPI 3.1. Neither that nor this page needs a key.',
    },
    { head: ['route', '', 'key'], rows: routes(paths) },
    { heading: 'Ask a model' },
    {
      text:
        'The fields of the body are those of the model’s task. The main field, or an object of fields, may be given as ' +
        '`input`; `params` has the task’s parameters; `"stream": true` streams text as it is generated.',
    },
    { head: ['task', '', 'body'], rows: tasks() },
    { text: 'JSON answers are `{"error": null, "output": …}`, errors `{"error": "…", "output": null}`.' },
    { head: ['header', ''], rows: headers(components) },
    { heading: 'Errors' },
    { head: ['status', ''], rows: statuses() },
    { heading: 'OpenAI’s interface' },
    { text: 'Give the client this base address and a key; models are named by their ids.' },
    { code: PYTHON, language: 'python' },
    { code: JAVASCRIPT, language: 'js' },
    ...notes().map((text) => ({ text })),
    ...['ChatRequest', 'CompletionRequest', 'EmbeddingRequest'].flatMap((name) => fields(components, name)),
  ];
}

const START = `BASE=http://localhost:8080/models/v2
curl -H "Authorization: Key $KEY" $BASE/list/models
curl -H "Authorization: Key $KEY" -H 'content-type: application/json' \\
  -d '{"text": "Once upon a time", "params": {"max_new_tokens": 20}}' $BASE/org/name
curl -H "Authorization: Bearer $KEY" -H 'content-type: application/json' \\
  -d '{"model": "org/name", "messages": [{"role": "user", "content": "Hello"}]}' $BASE/openai/v1/chat/completions`;

const PYTHON = `from openai import OpenAI

client = OpenAI(base_url="http://localhost:8080/models/v2/openai/v1", api_key=key)
stream = client.chat.completions.create(
    model="org/name",
    messages=[{"role": "user", "content": "Hello"}],
    temperature=0.7,
    stream=True,
)
for chunk in stream:
    print(chunk.choices[0].delta.content or "", end="")`;

const JAVASCRIPT = `import OpenAI from 'openai';

const client = new OpenAI({ baseURL: 'http://localhost:8080/models/v2/openai/v1', apiKey: key });
const { data } = await client.embeddings.create({ model: 'org/name', input: ['A quiet river', 'A valley'] });`;

function notes(): string[] {
  return [
    'Tokens are sampled only if the request asks for it: by a `temperature` above 0 (OpenAI’s own default is 1), a ' +
      '`top_p` below 1, `top_k`, `min_p`, or `n` above 1. If the model’s repository sets such values, they are the ' +
      'defaults.',
    'Fields that are not supported are refused with a 400 that names them. A stream with `logprobs`, `n` above 1 or ' +
      'several prompts is sent only when it is complete. Errors have OpenAI’s shape, with the statuses above; if a stream ' +
      'breaks off, the client’s iterator throws.',
    '`dimensions` keeps the first numbers, at most as many as the model gives, scaled to length 1 again where the ' +
      'model’s vectors are. The content of a message may be a list of parts; models that read only text ' +
      'refuse images. A request to the wrong endpoint is refused with the right one.',
  ];
}

function routes(paths: OpenApiDocument['paths']): string[][] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { summary, security }]) => [
      `\`${method.toUpperCase()} ${path}\``,
      summary,
      security ? '' : 'yes',
    ]),
  );
}

function tasks(): string[][] {
  return TASK_IDS.map((id) => {
    const { title, example } = taskOf(id);
    return [id, title, `\`${JSON.stringify(example)}\``];
  });
}

function headers({ headers }: OpenApiDocument['components']): string[][] {
  return Object.entries(headers).map(([name, { description }]) => [`\`${name}\``, description]);
}

/** Codes with the same status share a row. */
function statuses(): string[][] {
  const rows = new Map<number, string[]>();
  for (const [code, status] of Object.entries(STATUS)) {
    if (CONSOLE_CODES.has(code)) continue;
    if (code !== 'cancelled') rows.set(status, [...(rows.get(status) ?? []), code.replaceAll('_', ' ')]);
  }
  return [...rows].map(([status, codes]) => [String(status), codes.join(', ')]);
}

function fields({ schemas }: OpenApiDocument['components'], name: string): Block[] {
  const { properties = {}, required = [] } = schemas[`openai.${name}`]!;
  const rows = Object.entries(properties).map(([field, schema]) => {
    const note = [required.includes(field) ? 'required' : '', schema['description'] ?? ''];
    return [`\`${field}\``, typeText(schema), note.filter(Boolean).join('; ')];
  });
  return [{ text: `\`${name}\`:` }, { head: ['field', 'type', ''], rows }];
}
