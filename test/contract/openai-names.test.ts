import type { RequestListener } from 'node:http';
import { contextTooLong } from '../../runtime/core/context-length.js';
import { TASK_IDS } from '../../runtime/core/task-ids.js';
import { fakeApp } from '../fakes/app.js';
import { closeServers, gateway, secret } from '../fakes/gateway.js';
import { RunError } from '../../runtime/core/errors.js';

/** Errors name what the caller has sent, and say what clients look for. */

afterEach(closeServers);

const failing = (task: 'chat' | 'text-generation', error: RunError) =>
  fakeApp({
    task,
    run: async () => {
      throw error;
    },
  });

async function post(path: string, body: object, container?: RequestListener) {
  const models = TASK_IDS.map((task) => ({ modelId: `org/${task}`, task }));
  const base = await gateway({ models, ...(container ? { container } : {}) });
  const answer = await fetch(`${base}/openai/v1/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const { error } = (await answer.json()) as { error: Record<string, string | null> };
  return { status: answer.status, error };
}

const chat = { model: 'org/chat', messages: [{ role: 'user', content: 'hi' }] };
const completion = { model: 'org/text-generation', prompt: 'hi' };
const embedding = { model: 'org/sentence-similarity', input: 'hi' };

test.each([
  ['chat/completions', chat, 'max_new_tokens'],
  ['completions', completion, 'max_new_tokens'],
  ['completions', completion, 'num_return_sequences'],
  ['completions', completion, 'text'],
  ['embeddings', embedding, 'text'],
])('%s: an unknown field is called as it was sent', async (path, body, field) => {
  const { status, error } = await post(path, { ...body, [field]: 3 });
  expect([status, error]).toEqual([
    400,
    {
      message: `${field}: unknown parameter`,
      type: 'invalid_request_error',
      param: field,
      code: null,
    },
  ]);
});

test.each([
  ['chat/completions', { ...chat, max_completion_tokens: 9 }, 'max_completion_tokens'],
  ['chat/completions', { ...chat, max_tokens: 9 }, 'max_tokens'],
  ['completions', { ...completion, max_tokens: 9 }, 'max_tokens'],
] as const)('%s: what the model says of its own name', async (path, body, field) => {
  const task = path === 'completions' ? 'text-generation' : 'chat';
  const container = failing(task, new RunError('unprocessable', 'params.max_new_tokens: is too much'));
  const { status, error } = await post(path, body, container);
  expect([status, error]).toMatchObject([422, { message: `${field}: is too much`, param: field }]);
});

test.each([
  ['chat/completions', chat, 'chat', 'messages'],
  ['completions', completion, 'text-generation', 'prompt'],
] as const)('%s: a prompt that is too long', async (path, body, task, param) => {
  for (const stream of [false, true]) {
    const tooLong = contextTooLong({ subject: 'the prompt has', tokens: 300, context: 256 });
    const { status, error } = await post(path, { ...body, stream }, failing(task, tooLong));
    expect([status, error]).toEqual([
      400,
      {
        message:
          "this model's maximum context length is 256 tokens: the prompt has 300 tokens, 45 too many: this model takes 256 with at least one token of answer",
        type: 'invalid_request_error',
        param,
        code: 'context_length_exceeded',
      },
    ]);
  }
});

test.each([
  ['embeddings', embedding, 'input', 2049, /^input: takes 2048 texts at most, and there are 2049$/],
  ['completions', completion, 'prompt', 129, /^prompt: takes 128 prompts at most, and there are 129$/],
  ['embeddings', embedding, 'input', 0, /^input: must have a text at least$/],
] as const)('%s: a list of texts says its limits', async (path, body, field, count, message) => {
  const { status, error } = await post(path, { ...body, [field]: Array(count).fill('x') });
  expect([status, error]).toMatchObject([400, { message: expect.stringMatching(message), param: field }]);
});

test.each([[[1, 2]], [3], [[[1]]], [null]])('embeddings of %j: no text', async (input) => {
  const { status, error } = await post('embeddings', { ...embedding, input });
  expect([status, error]).toMatchObject([
    400,
    { message: expect.stringMatching(/must be a text or several/) },
  ]);
});

test('a seed of -1 is none; others are passed on', async () => {
  const seeds: unknown[] = [];
  const container = fakeApp({
    task: 'text-generation',
    async run(input) {
      seeds.push((input as { params?: { seed?: number } }).params?.seed);
      return 'text';
    },
  });
  const models = [{ modelId: 'org/text-generation', task: 'text-generation' as const }];
  const base = await gateway({ container, models });
  for (const seed of [-1, 7, -2]) {
    const answer = await fetch(`${base}/openai/v1/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...completion, seed }),
    });
    expect(answer.status).toBe(seed === -2 ? 400 : 200);
    await answer.text();
  }
  expect(seeds).toEqual([undefined, 7]);
});
