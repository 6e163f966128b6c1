import OpenAI from 'openai';
import { createServer } from 'node:http';
import type { ModelService } from '../../runtime/http/service.js';
import { fakeApp } from '../fakes/app.js';
import { mounted, MOUNTS } from '../fakes/dialects.js';
import { closeServers, gateway, secret, started } from '../fakes/gateway.js';

afterEach(closeServers);

const seen: Record<string, unknown>[] = [];
beforeEach(() => seen.splice(0));

const task = 'text-classification' as const;
const flags = { toxic: 0.5, insult: 0.9 };

/** Each text that has the word is toxic. */
const run: ModelService['run'] = async (input) => {
  seen.push(input);
  const toxic = (input as unknown as { text: string }).text.includes('fool') ? 0.5 : 0.1;
  return [
    { label: 'neutral', score: 1 - toxic },
    { label: 'toxic', score: toxic },
    { label: 'insult', score: 0.8 },
  ];
};

const clientOf = (base: string) => new OpenAI({ apiKey: secret, baseURL: `${base}/v1`, maxRetries: 0 });
const asked = (base: string, body: object) =>
  clientOf(base).moderations.create(body as OpenAI.ModerationCreateParams);

describe.each(MOUNTS)('moderations, %s', (mount) => {
  const base = () => mounted(mount, { task, run });

  test('a text is flagged by the labels that the caller names, from their scores on', async () => {
    const { id, model, results } = await asked(await base(), {
      model: 'test/model',
      input: 'you fool',
      flags,
    });
    expect({ id, model, results }).toEqual({
      ...{ id: expect.stringMatching(/^modr-/), model: 'test/model' },
      results: [
        {
          flagged: true,
          categories: { neutral: false, toxic: true, insult: false },
          category_scores: { neutral: 0.5, toxic: 0.5, insult: 0.8 },
          category_applied_input_types: { neutral: ['text'], toxic: ['text'], insult: ['text'] },
        },
      ],
    });
    // What is cut off would be judged by nobody.
    expect(seen[0]!['params']).toEqual({ top_k: null, truncation: false });
  });

  test('several texts, in their order', async () => {
    const input = ['hello', 'you fool', 'well'];
    const { results } = await asked(await base(), { model: 'test/model', input, flags });
    expect(results.map(({ flagged }) => flagged)).toEqual([false, true, false]);
  });

  test('a part of type text is a text', async () => {
    const input = [{ type: 'text', text: 'you fool' }];
    const { results } = await asked(await base(), { model: 'test/model', input, flags });
    expect(results.map(({ flagged }) => flagged)).toEqual([true]);
  });

  test('where nobody has said what flags, nothing is guessed', async () => {
    const call = asked(await base(), { model: 'test/model', input: 'you fool' });
    await expect(call).rejects.toMatchObject({
      status: 422,
      message: expect.stringContaining('flags: nobody'),
    });
    expect(seen).toEqual([]);
  });

  test.each([
    [
      { input: 'a', flags: { tocsic: 0.5 } },
      'flags.tocsic: is no label of the model; it has neutral, toxic, insult',
    ],
    [{ input: 'a', flags: {} }, 'flags: must name a label'],
    [{ input: 'a', flags: { toxic: 2 } }, 'flags.toxic'],
    [{ input: [], flags }, 'input: must have a text'],
    [{ input: [{ type: 'image_url', image_url: { url: 'x' } }], flags }, 'images are not judged'],
    [{ input: 'a', flags, made_up: 1 }, 'made_up: unknown parameter'],
  ])('refused by name: %j', async (body, message) => {
    const call = asked(await base(), { model: 'test/model', ...body });
    await expect(call).rejects.toMatchObject({ status: 400, message: expect.stringContaining(message) });
  });
});

test('flags of the operator: a setting of the container', async () => {
  const app = fakeApp({ task, run, moderation: { insult: 0.7 } });
  const { results } = await asked(await started(createServer(app)), { input: 'hello' });
  expect(results[0]).toMatchObject({ flagged: true, categories: { toxic: false, insult: true } });
});

test('flags of the operator: the gateway’s catalogue', async () => {
  const models = [{ modelId: 'test/model', task, moderation: { toxic: 0.4 } }];
  const base = await gateway({ container: fakeApp({ task, run }), models });
  for (const [input, flagged] of [
    ['hello', false],
    ['you fool', true],
  ] as const) {
    const { results } = await asked(base.slice(0, -'/models/v2'.length), { model: 'test/model', input });
    expect(results[0]).toMatchObject({ flagged });
  }
});

test('a score that is no number is an error, not a text that is clear', async () => {
  const base = await mounted('container', { task, run: async () => [{ label: 'toxic', score: null }] });
  await expect(asked(base, { input: 'a', flags: { toxic: 0.5 } })).rejects.toMatchObject({ status: 500 });
});
