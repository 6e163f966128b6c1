import type { ModelService } from '../../runtime/http/service.js';
import type { TaskId } from '../../runtime/core/task-ids.js';
import { closeServers, secret } from '../fakes/gateway.js';
import { mounted } from '../fakes/dialects.js';

afterEach(closeServers);

/** An image of one pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

const authorization = `Bearer ${secret}`;

async function asked(base: string, body: unknown, headers: Record<string, string> = {}) {
  const isFile = body instanceof Uint8Array;
  const answer = await fetch(base, {
    method: 'POST',
    headers: { authorization, ...(isFile ? {} : { 'content-type': 'application/json' }), ...headers },
    body: isFile ? (body as Uint8Array<ArrayBuffer>) : JSON.stringify(body),
  });
  const type = answer.headers.get('content-type')!;
  const content = /json/.test(type)
    ? ((await answer.json()) as unknown)
    : Buffer.from(await answer.arrayBuffer());
  return { status: answer.status, type, content };
}

describe.each(['container', 'below the model’s address'] as const)('%s', (mount) => {
  const seen: Record<string, unknown>[] = [];
  const model = (task: TaskId, output: unknown) =>
    mounted(mount, {
      task,
      async run(input, { onUsage }) {
        seen.push(input);
        onUsage?.({ tokensIn: 2, tokensOut: 1, finish: ['stop'] });
        return output;
      },
    });
  beforeEach(() => seen.splice(0));

  const rows = [{ label: 'a', score: 0.9 }];

  test.each<[TaskId, unknown, unknown, unknown]>([
    ['text-classification', { inputs: 'x' }, rows, [rows]],
    ['text-classification', { inputs: ['x', 'y'] }, rows, [rows, rows]],
    [
      'zero-shot-classification',
      { inputs: 'x', parameters: { candidate_labels: ['a', 'b'] } },
      { sequence: 'x', labels: ['a', 'b'], scores: [0.9, 0.1] },
      [
        { label: 'a', score: 0.9 },
        { label: 'b', score: 0.1 },
      ],
    ],
    ['summarization', { inputs: 'x' }, 'short', [{ summary_text: 'short' }]],
    ['translation', { inputs: 'x' }, 'kurz', [{ translation_text: 'kurz' }]],
    ['text-generation', { inputs: 'x' }, 'more', [{ generated_text: 'more' }]],
    ['text-generation', { inputs: ['x', 'y'] }, 'm', [{ generated_text: 'm' }, { generated_text: 'm' }]],
    [
      'question-answering',
      { inputs: { question: 'q', context: 'c' } },
      { score: 1, start: 0, end: 1, answer: 'c' },
      { score: 1, start: 0, end: 1, answer: 'c' },
    ],
    ['feature-extraction', { inputs: 'x', normalize: true }, [1, 2], [1, 2]],
    [
      'feature-extraction',
      { inputs: ['x', 'y'] },
      [1, 2],
      [
        [1, 2],
        [1, 2],
      ],
    ],
    ['sentence-similarity', { inputs: { source_sentence: 'x', sentences: ['y', 'z'] } }, [3, 4], [1, 1]],
    [
      'visual-question-answering',
      { inputs: PNG.toString('base64'), question: 'q', image: PNG.toString('base64') },
      [{ score: 1, answer: 'yes' }],
      [{ score: 1, answer: 'yes' }],
    ],
    [
      'document-question-answering',
      { inputs: { question: 'q', image: PNG.toString('base64') } },
      [{ answer: 'yes' }],
      [{ answer: 'yes' }],
    ],
    [
      'zero-shot-image-classification',
      { inputs: { image: PNG.toString('base64') }, parameters: { candidate_labels: ['a', 'b'] } },
      rows,
      rows,
    ],
    ['image-to-text', { inputs: PNG.toString('base64') }, 'a cat', [{ generated_text: 'a cat' }]],
    [
      'image-segmentation',
      { inputs: PNG.toString('base64'), parameters: { threshold: 0.5 } },
      [{ label: 'a', score: null, mask_png: 'AAAA' }],
      [{ label: 'a', mask: 'AAAA' }],
    ],
  ])('%s %j', async (task, body, output, expected) => {
    const { status, content } = await asked(await model(task, output), body);
    expect([status, content]).toEqual([200, expected]);
  });

  test.each([[{}], [{ 'content-type': 'image/png' }], [{ 'content-type': 'application/octet-stream' }]])(
    'an image as it is: %j',
    async (headers) => {
      const { status, content } = await asked(await model('image-classification', rows), PNG, headers);
      expect([status, content]).toEqual([200, rows]);
      expect(Buffer.from((seen[0]!['media'] as { bytes: Uint8Array }).bytes).equals(PNG)).toBe(true);
    },
  );

  test('the JavaScript client wants a caption that is no list', async () => {
    const headers = { 'user-agent': '@huggingface/inference/4.13.0' };
    const { content } = await asked(await model('image-to-text', 'a cat'), PNG, headers);
    expect(content).toEqual({ generated_text: 'a cat' });
  });

  test('a made medium comes as it is', async () => {
    const output = { mediaType: 'image/png', media: PNG };
    const { type, content } = await asked(await model('text-to-image', output), { inputs: 'x' });
    expect([type, (content as Buffer).equals(PNG)]).toEqual(['image/png', true]);
  });

  test('what the Inference API does by default, and what else a request says', async () => {
    const base = await model('token-classification', []);
    await asked(base, { inputs: 'x', options: { wait_for_model: true } });
    await asked(base, { inputs: 'x', parameters: { aggregation_strategy: 'max', stride: null } });
    expect(seen.map(({ params }) => params)).toEqual([
      { aggregation_strategy: 'simple' },
      { aggregation_strategy: 'max' },
    ]);
  });

  test.each<[TaskId, unknown, number, RegExp]>([
    ['text-classification', { inputs: 'x', parameters: { colour: 'red' } }, 400, /colour/],
    ['text-classification', { inputs: 5 }, 400, /inputs/],
    ['text-classification', { inputs: [] }, 400, /inputs/],
    ['text-generation', { inputs: 'x', parameters: { watermark: true } }, 400, /watermark/],
    ['image-classification', { inputs: 'no Base64 !' }, 422, /Base64/],
    ['text-generation', { inputs: 'x', parameters: { grammar: { type: 'poem' } } }, 400, /grammar/],
  ])('%s %j is refused: %d', async (task, body, status, message) => {
    const answer = await asked(await model(task, rows), body);
    expect([answer.status, answer.content]).toEqual([
      status,
      expect.objectContaining({ error: expect.stringMatching(message) }),
    ]);
    expect(seen).toEqual([]);
  });

  test('a file for a model of texts is refused', async () => {
    const headers = { 'content-type': 'image/png' };
    const { status } = await asked(await model('text-classification', rows), PNG, headers);
    expect(status).toBe(415);
  });

  test('details with the tokens of the answer, its end, and the prompt', async () => {
    const token = (id: number, text: string, logprob: number) => ({ id, token: text, logprob, bytes: [] });
    const run: ModelService['run'] = async (input, { onUsage }) => {
      seen.push(input);
      onUsage?.({ tokensIn: 2, tokensOut: 2, finish: ['stop'] });
      return {
        generated_text: 'b',
        logprobs: {
          content: [{ ...token(7, 'b', -1), top_logprobs: [token(7, 'b', -1)] }],
          end: { ...token(2, '</s>', -0.5), special: true, top_logprobs: [token(2, '</s>', -0.5)] },
        },
        prompt_logprobs: { content: [{ ...token(5, 'a', 0), logprob: null, rank: null, top_logprobs: [] }] },
      };
    };
    const base = await mounted(mount, { task: 'text-generation', run });
    const parameters = { details: true, decoder_input_details: true, top_n_tokens: 1 };
    const { content } = await asked(`${base}/generate`, { inputs: 'a', parameters });
    const b = { id: 7, text: 'b', logprob: -1, special: false };
    const end = { id: 2, text: '</s>', logprob: -0.5, special: true };
    expect(content).toMatchObject([
      {
        generated_text: 'b',
        details: {
          ...{
            finish_reason: 'eos_token',
            generated_tokens: 2,
            tokens: [b, end],
            top_tokens: [[b], [{ id: 2 }]],
          },
          prefill: [{ id: 5, text: 'a', logprob: null }],
        },
      },
    ]);
    expect(seen[0]!['params']).toMatchObject({ logprobs: 1, prompt_logprobs: 0 });
  });

  test('a stream of tokens, as Text Generation Inference sends it', async () => {
    const run: ModelService['run'] = async (_input, { onDelta, onUsage }) => {
      onDelta?.({ text: 'a' });
      onDelta?.({ text: 'b' });
      onUsage?.({ tokensIn: 1, tokensOut: 2, finish: ['length'] });
      return 'ab';
    };
    const base = await mounted(mount, { task: 'text-generation', run });
    for (const [path, body] of [
      ['', { inputs: 'x', stream: true }],
      ['/generate_stream', { inputs: 'x', parameters: { stop: [], watermark: false } }],
    ] as const) {
      const answer = await fetch(base + path, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      const events = (await answer.text()).trim().split('\n\n');
      expect(events.map((event) => JSON.parse(event.slice('data:'.length)) as unknown)).toMatchObject([
        { index: 1, token: { text: 'a', special: false }, generated_text: null },
        {
          ...{ index: 2, token: { text: 'b' }, generated_text: 'ab' },
          details: { finish_reason: 'length', generated_tokens: 2 },
        },
      ]);
    }
  });

  test('with details, a stream tells each token', async () => {
    const seen: Record<string, unknown>[] = [];
    const row = (id: number, token: string, more = {}) => ({
      ...{ id, token, logprob: -0.5, bytes: [] },
      ...{ top_logprobs: [{ id: id + 1, token: 'z', logprob: -0.1, bytes: [] }], ...more },
    });
    const run: ModelService['run'] = async (input, { onDelta, onUsage }) => {
      seen.push(input);
      // A letter of two tokens, and text that was held back to the end.
      onDelta?.({ token: row(7, 'a') });
      onDelta?.({ text: 'a' });
      onDelta?.({ token: row(8, '\uFFFD') });
      onDelta?.({ token: row(9, '\uFFFD') });
      onDelta?.({ text: 'é' });
      onDelta?.({ token: row(10, ' b') });
      onDelta?.({ token: row(2, '</s>', { special: true }) });
      onDelta?.({ text: ' b' });
      onUsage?.({ tokensIn: 3, tokensOut: 5, finish: ['stop'] });
      return 'aé b';
    };
    const base = await mounted(mount, { task: 'text-generation', run });
    const ask = (parameters: object) =>
      fetch(`${base}/generate_stream`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: JSON.stringify({ inputs: 'x', parameters: { details: true, ...parameters } }),
      });
    const told = (await (await ask({ top_n_tokens: 1 })).text()).trim().split('\n\n');
    const events = told.map((one) => JSON.parse(one.slice('data:'.length)) as { token: { text: string } });
    expect(seen[0]!['params']).toMatchObject({ logprobs: 1, stream_tokens: true });
    const token = (id: number, text: string, special = false) => ({ id, text, logprob: -0.5, special });
    const rest = { generated_text: null, details: null };
    expect(events).toMatchObject([
      { index: 1, token: token(7, 'a'), ...rest, top_tokens: [{ id: 8, text: 'z' }] },
      { index: 2, token: token(8, ''), ...rest },
      { index: 3, token: token(9, 'é'), ...rest },
      { index: 4, token: token(10, ' b'), ...rest },
      {
        ...{ index: 5, token: token(2, '</s>', true), generated_text: 'aé b' },
        details: { finish_reason: 'eos_token', generated_tokens: 5, input_length: 3, seed: null },
      },
    ]);
    const refused = await ask({ decoder_input_details: true });
    expect([refused.status, await refused.text()]).toEqual([
      400,
      expect.stringContaining('decoder_input_details: a stream has none'),
    ]);
  });
});

test('a container has no page at its root for what is no browser', async () => {
  const base = await mounted('container', { task: 'chat' });
  const answer = await fetch(base);
  expect([answer.status, await answer.json()]).toEqual([404, { error: expect.any(String), output: null }]);
});
