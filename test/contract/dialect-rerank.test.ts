import type { TaskId } from '../../runtime/core/task-ids.js';
import { closeServers, secret } from '../fakes/gateway.js';
import { mounted, MOUNTS, type Mount } from '../fakes/dialects.js';

afterEach(closeServers);

interface Given {
  text: string;
  params: { text_pair?: string; function_to_apply?: string };
}

/** Scores and vectors are made of the lengths of texts. */
const RUNS: Partial<Record<TaskId, (given: Given) => unknown>> = {
  'text-classification': ({ params: { text_pair, function_to_apply } }) => [
    { label: 'LABEL_0', score: text_pair!.length / (function_to_apply === 'none' ? 1 : 10) },
  ],
  'feature-extraction': ({ text }) => [text.length, 1],
};

const seen: Given[] = [];
beforeEach(() => seen.splice(0));

const model = (mount: Mount, task: TaskId, run = RUNS[task]!) =>
  mounted(mount, {
    task,
    async run(input, { onUsage }) {
      seen.push(input as unknown as Given);
      onUsage?.({ tokensIn: 2 });
      return run(input as unknown as Given);
    },
  });

async function post(base: string, path: string, body: object) {
  const answer = await fetch(`${base}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return {
    status: answer.status,
    ignored: answer.headers.get('x-slipway-ignored'),
    content: (await answer.json()) as Record<string, unknown>,
  };
}

const query = { model: 'test/model', query: 'q', documents: ['a', { text: 'ccc' }, 'bb'] };

describe.each(MOUNTS)('reranking, %s', (mount) => {
  test.each(['/rerank', '/v1/rerank', '/v2/rerank'])('documents at %s', async (path) => {
    const { status, content, ignored } = await post(await model(mount, 'text-classification'), path, {
      ...query,
      ...{ top_n: 2, return_documents: true, max_tokens_per_doc: 5 },
    });
    expect([status, ignored]).toEqual([200, 'max_tokens_per_doc']);
    expect(content).toMatchObject({
      model: 'test/model',
      results: [
        { index: 1, relevance_score: 0.3, document: { text: 'ccc' } },
        { index: 2, relevance_score: 0.2, document: { text: 'bb' } },
      ],
      usage: { total_tokens: 6 },
    });
    expect(seen[0]!.params).toEqual({ text_pair: 'a', top_k: null, function_to_apply: 'sigmoid' });
  });

  test('an embedder ranks by cosine', async () => {
    const { content } = await post(await model(mount, 'feature-extraction'), '/rerank', query);
    const results = content['results'] as { index: number; relevance_score: number }[];
    expect(results.map(({ index }) => index)).toEqual([0, 2, 1]);
    expect(results[0]!.relevance_score).toBeCloseTo(1, 12);
  });

  test('scores of pairs', async () => {
    const base = await model(mount, 'text-classification');
    const one = await post(base, '/v1/score', { model: 'test/model', text_1: 'q', text_2: ['a', 'bb'] });
    expect(one.content).toMatchObject({
      data: [
        { index: 0, object: 'score', score: 0.1 },
        { index: 1, object: 'score', score: 0.2 },
      ],
    });
    const uneven = { model: 'test/model', text_1: ['q', 'r'], text_2: ['a', 'b', 'c'] };
    expect((await post(base, '/score', uneven)).status).toBe(400);
  });

  test('Cohere’s vectors', async () => {
    const { content, ignored } = await post(await model(mount, 'feature-extraction'), '/v2/embed', {
      ...{ model: 'test/model', texts: ['a', 'bb'], input_type: 'search_query', embedding_types: ['float'] },
    });
    expect([content['embeddings'], content['texts'], ignored]).toEqual([
      {
        float: [
          [1, 1],
          [2, 1],
        ],
      },
      ['a', 'bb'],
      'input_type',
    ]);
  });

  test.each<[TaskId, string, object, RegExp]>([
    ['text-classification', '/rerank', { ...query, documents: [] }, /documents/],
    ['text-classification', '/rerank', { ...query, max_chunks_per_doc: 3 }, /max_chunks_per_doc/],
    ['text-classification', '/rerank', { ...query, colour: 1 }, /colour/],
    ['feature-extraction', '/v2/embed', { ...query, texts: ['a'], embedding_types: ['int8'] }, /./],
    ['text-classification', '/v2/embed', { model: 'test/model', texts: ['a'] }, /text-classification/],
  ])('%s: %s %j is refused', async (task, path, body, message) => {
    const { status, content } = await post(await model(mount, task), path, body);
    expect([status, content['error'], seen]).toEqual([400, expect.stringMatching(message), []]);
  });

  test('a classifier of several labels is no reranker', async () => {
    const several = () => [
      { label: 'a', score: 0.9 },
      { label: 'b', score: 0.1 },
    ];
    const { status, content } = await post(
      await model(mount, 'text-classification', several),
      '/rerank',
      query,
    );
    expect([status, content['error']]).toEqual([400, expect.stringMatching(/2 labels/)]);
  });
});

describe.each(MOUNTS.filter((mount) => mount !== 'gateway'))('Text Embeddings Inference, %s', (mount) => {
  test('vectors are always a list, and of length 1 unless told otherwise', async () => {
    const base = await model(mount, 'feature-extraction');
    expect((await post(base, '/embed', { inputs: 'a' })).content).toEqual([[1, 1]]);
    const two = await post(base, '/embed', { inputs: ['a', 'bb'], normalize: false, truncate: true });
    expect(two.content).toEqual([
      [1, 1],
      [2, 1],
    ]);
    expect(seen.map(({ params }) => params)).toEqual([
      { normalize: true },
      { normalize: false },
      { normalize: false },
    ]);
  });

  test.each([
    ['feature-extraction', '/embed', { inputs: 'a' }],
    ['text-classification', '/predict', { inputs: 'a' }],
    ['text-classification', '/rerank', { query: 'q', texts: ['a'] }],
    ['feature-extraction', '/rerank', { query: 'q', texts: ['a'] }],
  ] as const)(
    '%s at %s: truncate: false refuses long texts, true and nothing cut them',
    async (task, path, body) => {
      const base = await model(mount, task);
      await post(base, path, { ...body, truncate: false });
      expect(seen.length).toBeGreaterThan(0);
      for (const { params } of seen.splice(0)) expect(params).toMatchObject({ truncation: false });
      for (const more of [{ truncate: true }, {}]) {
        await post(base, path, { ...body, ...more });
        for (const { params } of seen.splice(0)) expect(params).not.toHaveProperty('truncation');
      }
    },
  );

  test('a rerank of texts', async () => {
    const base = await model(mount, 'text-classification');
    const body = { query: 'q', texts: ['a', 'bb'], return_text: true, raw_scores: true };
    expect((await post(base, '/rerank', body)).content).toEqual([
      { index: 1, score: 2, text: 'bb' },
      { index: 0, score: 1, text: 'a' },
    ]);
  });

  test.each([
    ['a text', 'a', [{ label: 'x', score: 1 }]],
    ['a pair', ['a', 'b'], [{ label: 'x', score: 2 }]],
    ['several', [['a'], ['a', 'b']], [[{ label: 'x', score: 1 }], [{ label: 'x', score: 2 }]]],
  ])('predictions of %s', async (_name, inputs, expected) => {
    const run = ({ params }: Given) => [{ label: 'x', score: params.text_pair === undefined ? 1 : 2 }];
    const base = await model(mount, 'text-classification', run);
    expect((await post(base, '/predict', { inputs })).content).toEqual(expected);
  });

  test('similarity, and what the model is', async () => {
    const base = await model(mount, 'feature-extraction');
    const inputs = { source_sentence: 'a', sentences: ['b', 'ccc'] };
    const { content } = await post(base, '/similarity', { inputs });
    expect((content as unknown as number[])[0]).toBeCloseTo(1, 12);
    const answer = await fetch(`${base}/info`, { headers: { authorization: `Bearer ${secret}` } });
    expect(await answer.json()).toMatchObject({ model_id: 'test/model', model_type: { embedding: {} } });
  });

  test.each([
    ['/embed', { inputs: [[1, 2]] }, /ids/],
    ['/embed', { inputs: 'a', truncation_direction: 'Left' }, /truncation_direction/],
    ['/embed', { inputs: [] }, /inputs/],
  ])('%s %j is refused', async (path, body, message) => {
    const { status, content } = await post(await model(mount, 'feature-extraction'), path, body);
    expect([status, content]).toEqual([
      400,
      { error: expect.stringMatching(message), error_type: 'validation' },
    ]);
  });
});
