import type { TaskId } from '../../runtime/core/task-ids.js';
import { closeServers, secret } from '../fakes/gateway.js';
import { mounted, MOUNTS, type Mount } from '../fakes/dialects.js';

afterEach(closeServers);

interface Given {
  text: string;
  params: Record<string, unknown> & { text_pair?: string };
}

/** Scores and vectors are made of the lengths of texts. */
const RUNS: Partial<Record<TaskId, (given: Given) => unknown>> = {
  'text-classification': ({ text, params: { text_pair } }) => [
    { label: 'LABEL_0', score: (text_pair ?? text).length / 10 },
  ],
  'feature-extraction': ({ text }) => [text.length, 1, 2],
};

const seen: Given[] = [];
beforeEach(() => seen.splice(0));

const model = (mount: Mount, task: TaskId) =>
  mounted(mount, {
    task,
    async run(input, { onUsage }) {
      seen.push(input as unknown as Given);
      onUsage?.({ tokensIn: 2 });
      return RUNS[task]!(input as unknown as Given);
    },
  });

const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };

async function ask(base: string, path: string, body?: object) {
  const answer = await fetch(`${base}/infinity${path}`, {
    headers,
    ...(body ? { method: 'POST', body: JSON.stringify({ model: 'test/model', ...body }) } : {}),
  });
  return { status: answer.status, content: (await answer.json()) as Record<string, unknown> };
}

const usage = { prompt_tokens: 6, total_tokens: 6 };

describe.each(MOUNTS)('Infinity, %s', (mount) => {
  test('documents of a rerank are texts', async () => {
    const base = await model(mount, 'text-classification');
    const request = { query: 'q', documents: ['a', { text: 'ccc' }, 'bb'] };
    const { status, content } = await ask(base, '/rerank', { ...request, top_n: 2, return_documents: true });
    expect([status, content]).toEqual([
      200,
      {
        ...{ object: 'rerank', id: expect.stringMatching(/^infinity-/), created: expect.any(Number), usage },
        model: 'test/model',
        results: [
          { index: 1, relevance_score: 0.3, document: 'ccc' },
          { index: 2, relevance_score: 0.2, document: 'bb' },
        ],
      },
    ]);
    const plain = await ask(base, '/rerank', { ...request, top_n: 1, raw_scores: true });
    expect(plain.content['results']).toEqual([{ index: 1, relevance_score: 0.3 }]);
    expect(seen.map(({ params }) => params['function_to_apply'])).toEqual([
      ...['sigmoid', 'sigmoid', 'sigmoid'],
      ...['none', 'none', 'none'],
    ]);
  });

  test.each([
    [{ dimensions: 0, modality: 'text', user: null }, undefined],
    [{ output_dimension: 3 }, 3],
    [{ dimensions: 3, output_dimension: 0 }, 3],
  ])('embeddings with %j', async (more, dimensions) => {
    const base = await model(mount, 'feature-extraction');
    const { content } = await ask(base, '/embeddings', { input: ['a', 'bb'], ...more });
    expect(content['data']).toEqual([
      { object: 'embedding', index: 0, embedding: [1, 1, 2] },
      { object: 'embedding', index: 1, embedding: [2, 1, 2] },
    ]);
    expect(seen.map(({ params }) => params['dimensions'])).toEqual([dimensions, dimensions]);
  });

  test('classes of texts', async () => {
    const base = await model(mount, 'text-classification');
    const { content } = await ask(base, '/classify', { input: ['a', 'bb'], raw_scores: true });
    expect(content).toMatchObject({
      ...{ object: 'classify', model: 'test/model', usage: { prompt_tokens: 4, total_tokens: 4 } },
      data: [[{ label: 'LABEL_0', score: 0.1 }], [{ label: 'LABEL_0', score: 0.2 }]],
    });
    expect(seen[0]!.params).toEqual({ top_k: null, function_to_apply: 'none' });
  });

  test('models and health', async () => {
    const base = await model(mount, 'text-classification');
    const { content } = await ask(base, '/models');
    expect(content['data']).toEqual([
      {
        ...{ id: 'test/model', object: 'model', owned_by: 'infinity', created: 0 },
        ...{ stats: {}, backend: 'slipway', capabilities: ['rerank', 'classify'] },
      },
    ]);
    expect(await ask(base, '/health')).toEqual({ status: 200, content: { unix: expect.any(Number) } });
  });

  test.each<[TaskId, string, object, RegExp]>([
    ['text-classification', '/rerank', { query: 'q', documents: [] }, /documents/],
    ['text-classification', '/rerank', { query: 'q', texts: ['a'] }, /documents/],
    ['text-classification', '/classify', { input: 'a' }, /input/],
    ['text-classification', '/embeddings', { input: 'a' }, /text-classification/],
    ['feature-extraction', '/embeddings', { input: 'a', modality: 'image' }, /modality/],
    ['feature-extraction', '/embeddings', { input: 'a', dimensions: 2, output_dimension: 1 }, /contradicts/],
    ['feature-extraction', '/embeddings', { input: 'a', colour: 1 }, /colour/],
    ['feature-extraction', '/classify', { input: ['a'] }, /feature-extraction/],
  ])('%s: %s %j is refused', async (task, path, body, message) => {
    const { status, content } = await ask(await model(mount, task), path, body);
    expect([status, content['error'], seen]).toEqual([
      400,
      expect.objectContaining({ message: expect.stringMatching(message) }),
      [],
    ]);
  });

  test('other paths below are its 404', async () => {
    const { status, content } = await ask(await model(mount, 'feature-extraction'), '/embeddings_image', {});
    expect([status, content['error']]).toEqual([
      404,
      expect.objectContaining({ message: expect.stringContaining('/infinity/embeddings') }),
    ]);
  });
});
