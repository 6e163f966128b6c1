import type { TaskId } from '../../runtime/core/task-ids.js';
import { closeServers, secret } from '../fakes/gateway.js';
import { mounted, MOUNTS, type Mount } from '../fakes/dialects.js';
import { post } from '../fakes/talking-model.js';

afterEach(closeServers);

const seen: unknown[] = [];
beforeEach(() => seen.splice(0));

const span = (id: number, text: string, start: number | null) => ({
  ...{ id, text, token: `_${text}`, special: start === null },
  ...{ start, stop: start === null ? null : start + text.length },
});

/** A model that makes one token of each text, behind a special one. */
const model = (mount: Mount, task: TaskId) =>
  mounted(mount, {
    task,
    async run(input) {
      const { tokenizer } = input as unknown as { tokenizer: { encode?: string[]; decode?: number[][] } };
      seen.push(tokenizer);
      if ('info' in tokenizer) return { info: { tokenizer_class: 'X', chat_template: '{{ 1 }}' } };
      if (tokenizer.decode) return { texts: tokenizer.decode.map((ids) => ids.join(' ')) };
      const texts = tokenizer.encode ?? ['written'];
      return { tokens: texts.map((text) => [span(1, '[CLS]', null), span(7, text, 0)]), max_length: 64 };
    },
  });

async function ask(base: string, path: string, body: object) {
  const { status, text } = await post(`${base}${path}`, body);
  return { status, content: JSON.parse(text) as Record<string, unknown> };
}

describe.each(MOUNTS)('tokens, %s', (mount) => {
  test('of a prompt, as vLLM has them', async () => {
    const base = await model(mount, 'text-generation');
    const body = { model: 'test/model', prompt: 'hi', add_special_tokens: false, return_token_strs: true };
    expect(await ask(base, '/tokenize', body)).toEqual({
      status: 200,
      content: { count: 2, max_model_len: 64, tokens: [1, 7], token_strs: ['_[CLS]', '_hi'] },
    });
    expect(seen).toEqual([{ encode: ['hi'], add_special_tokens: false }]);
  });

  test('of messages', async () => {
    const messages = [{ role: 'user', content: 'hi' }];
    const { status, content } = await ask(await model(mount, 'chat'), '/tokenize', {
      ...{ model: 'test/model', messages, add_generation_prompt: false },
      chat_template_kwargs: { enable_thinking: false },
    });
    expect([status, content]).toMatchObject([200, { count: 2, tokens: [1, 7] }]);
    expect(seen).toEqual([{ messages, variables: { enable_thinking: false }, add_generation_prompt: false }]);
  });

  test('of inputs behind a prompt of the repository, as Text Embeddings Inference has them', async () => {
    const base = await model(mount, 'sentence-similarity');
    const body = { model: 'test/model', inputs: ['a', 'b'], prompt_name: 'query' };
    expect((await ask(base, '/tokenize', body)).status).toBe(200);
    expect(seen).toEqual([{ encode: ['a', 'b'], prompt_name: 'query' }]);
    const { status, content } = await ask(base, '/tokenize', { ...body, inputs: null, prompt: 'a' });
    expect([status, content]).toMatchObject([400, { error: expect.stringContaining('prompt_name') }]);
  });

  test('what the tokenizer says of itself, as vLLM has it', async () => {
    const base = await model(mount, 'chat');
    const headers = { authorization: secret };
    const answer = await fetch(`${base}/tokenizer_info?model=test/model`, { headers });
    expect(await answer.json()).toEqual({ tokenizer_class: 'X', chat_template: '{{ 1 }}' });
    expect(seen).toEqual([{ info: true }]);
  });

  test('the text of tokens', async () => {
    const base = await model(mount, 'summarization');
    expect(await ask(base, '/detokenize', { model: 'test/model', tokens: [5, 6] })).toEqual({
      status: 200,
      content: { prompt: '5 6' },
    });
    expect(seen).toEqual([{ decode: [[5, 6]], skip_special_tokens: false }]);
  });

  test.each<[TaskId, string, object, RegExp]>([
    ['chat', '/tokenize', {}, /prompt: is required/],
    ['chat', '/tokenize', { prompt: 'a', messages: [] }, /messages: contradicts prompt/],
    ['chat', '/tokenize', { messages: [] }, /messages: /],
    ['chat', '/tokenize', { prompt: 'a'.repeat(2 ** 18 + 1) }, /prompt: must have at most/],
    ['chat', '/tokenize', { prompt: 'a', colour: 1 }, /colour/],
    ['text-classification', '/tokenize', { messages: [{ role: 'user', content: 'a' }] }, /messages: /],
    ['chat', '/detokenize', { tokens: [-1] }, /tokens\.0: /],
    ['image-classification', '/tokenize', { prompt: 'a' }, /image-classification/],
  ])('%s: %s %j is refused by name', async (task, path, body, message) => {
    const { status, content } = await ask(await model(mount, task), path, { model: 'test/model', ...body });
    expect([status, content['error']]).toEqual([400, expect.stringMatching(message)]);
    expect(seen).toEqual([]);
  });
});

describe.each(MOUNTS.filter((mount) => mount !== 'gateway'))('Text Embeddings Inference, %s', (mount) => {
  test('tokens of inputs, and texts of tokens', async () => {
    const base = await model(mount, 'feature-extraction');
    expect(await ask(base, '/tokenize', { inputs: ['ab', 'c'] })).toEqual({
      status: 200,
      content: ['ab', 'c'].map((text) => [
        { id: 1, text: '[CLS]', special: true, start: null, stop: null },
        { id: 7, text, special: false, start: 0, stop: text.length },
      ]),
    });
    expect((await ask(base, '/decode', { ids: [1, 2] })).content).toEqual(['1 2']);
    expect((await ask(base, '/decode', { ids: [[1], [2]], skip_special_tokens: false })).content).toEqual([
      '1',
      '2',
    ]);
    expect(seen.slice(1)).toEqual([{ decode: [[1, 2]] }, { decode: [[1], [2]], skip_special_tokens: false }]);
  });
});

test('an unknown model is a 404 at the gateway', async () => {
  const { status } = await ask(await model('gateway', 'chat'), '/tokenize', {
    model: 'org/none',
    prompt: 'a',
  });
  expect(status).toBe(404);
});

describe.each(MOUNTS.filter((mount) => mount !== 'gateway'))('vectors of tokens, %s', (mount) => {
  const given: Record<string, unknown>[] = [];
  beforeEach(() => given.splice(0));
  const embedder = (task: TaskId, output: unknown) =>
    mounted(mount, {
      task,
      async run(input, { onUsage }) {
        given.push(input);
        onUsage?.({ tokensIn: 2 });
        return output;
      },
    });

  test.each<[TaskId, object]>([
    ['feature-extraction', { pooling: 'none' }],
    ['sentence-similarity', { output_value: 'token_embeddings' }],
  ])('%s: embed_all', async (task, params) => {
    const base = await embedder(task, [
      [1, 2],
      [3, 4],
    ]);
    const { status, content } = await ask(base, '/embed_all', { inputs: ['a', 'b'], truncate: false });
    const one = [
      [1, 2],
      [3, 4],
    ];
    expect([status, content]).toEqual([200, [one, one]]);
    expect(given.map((input) => input['params'])).toEqual([
      { ...params, truncation: false },
      { ...params, truncation: false },
    ]);
  });

  test('embed_sparse', async () => {
    const base = await embedder('fill-mask', [{ index: 3, value: 0.5 }]);
    expect(await ask(base, '/embed_sparse', { inputs: 'a' })).toEqual({
      status: 200,
      content: [[{ index: 3, value: 0.5 }]],
    });
    expect(given[0]!['params']).toEqual({ sparse: true });
    await ask(base, '/embed_sparse', { inputs: 'a', prompt_name: 'query' });
    expect(given[1]!['params']).toEqual({ sparse: true, prompt_name: 'query' });
  });

  test.each<[TaskId, string, object]>([
    ['feature-extraction', '/embed_all', { inputs: Array<string>(33).fill('a') }],
    ['feature-extraction', '/embed_sparse', { inputs: 'a' }],
    ['text-classification', '/embed_all', { inputs: 'a' }],
    ['fill-mask', '/embed_sparse', { inputs: [] }],
  ])('%s: %s %j is refused', async (task, path, body) => {
    const { status } = await ask(await embedder(task, []), path, body);
    expect([status, given]).toEqual([400, []]);
  });
});
