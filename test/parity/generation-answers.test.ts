import request from 'supertest';
import type { TaskId } from '../../runtime/core/task-ids.js';
import { missingFor } from './ffmpeg.js';
import { type Answer, fixtureSpec, type ServedModel, serveInline } from './load.js';
import { type ZooModel, zooModels } from './zoo.js';

const models = await zooModels();
const STREAMING = [
  'text-generation',
  'chat',
  'text2text-generation',
  'summarization',
  'translation',
  'image-text-to-text',
  'audio-text-to-text',
  'video-text-to-text',
];

const serve = (model: ZooModel) =>
  serveInline(fixtureSpec(model.task as TaskId, model.about.id, model.repo), model.repo);

/** The new text of an answer, whatever the task. */
function textOf(output: unknown): string {
  if (typeof output === 'string') return output;
  const { content, generated_text } = output as { content?: string; generated_text?: string };
  return content ?? generated_text ?? '';
}

describe.each(
  models
    .filter(({ task }) => STREAMING.includes(task) && !missingFor(task))
    .map((model) => [model.about.id, model] as const),
)('%s', (_id, model) => {
  let served: ServedModel;
  beforeAll(async () => {
    served = await serve(model);
  });
  afterAll(() => served.stop());

  /** A request that the model takes, with other parameters. */
  const ask = (params: Record<string, unknown>, more: object = {}): Promise<Answer> => {
    const [first] = model.cases;
    const { src_lang, tgt_lang } = (first!.request['params'] ?? {}) as Record<string, unknown>;
    const own = model.task === 'text-generation' ? { return_full_text: false } : {};
    const languages = src_lang ? { src_lang, tgt_lang } : {};
    return served.run({
      ...first!.request,
      params: { max_new_tokens: 8, ...own, ...languages, ...params },
      ...more,
    });
  };

  test('streams what it answers at once', async () => {
    for (const zooCase of model.cases.filter(({ request: { params }, expect_error }) => {
      const several = (params as { num_return_sequences?: number } | undefined)?.num_return_sequences;
      return !expect_error && several === undefined;
    })) {
      const echo = model.task === 'text-generation' ? { return_full_text: false } : {};
      const body = { ...zooCase.request, params: { ...(zooCase.request['params'] as object), ...echo } };
      const whole = await served.run(body);
      const streamed = await request(served.app)
        .post('/run')
        .send({ ...body, stream: true });
      expect(streamed.headers['content-type']).toBe('text/plain; charset=utf-8');
      const text = textOf(whole.body.output);
      // A message that goes on begins with what the request said.
      const fresh = model.task === 'chat' ? text.slice(text.length - streamed.text.length) : text;
      expect(streamed.text).toBe(fresh);
    }
  }, 60_000);

  test('draws several answers, again from the same seed', async () => {
    const params = {
      do_sample: true,
      // Models of fixtures are sure of their tokens.
      temperature: 10,
      top_k: 50,
      top_p: 1,
      num_return_sequences: 3,
      num_beams: 1,
      seed: 5,
    };
    const { status, body } = await ask(params);
    expect([status, body.error]).toEqual([200, null]);
    expect(body.output).toHaveLength(3);
    expect(new Set((body.output as unknown[]).map(textOf)).size).toBeGreaterThan(1);
    expect((await ask(params)).body).toEqual(body);
    const [first] = body.output as unknown[];
    expect((await ask({ ...params, num_return_sequences: 1 })).body.output).toEqual(first);
  });

  test('finds several answers with beams', async () => {
    const { body } = await ask({ num_beams: 4, num_return_sequences: 2 });
    const best = await ask({ num_beams: 4 });
    expect(body.output).toHaveLength(2);
    expect((body.output as unknown[])[0]).toEqual(best.body.output);
  });

  test('tells log-probabilities, whose tokens make the text', async () => {
    const { status, body } = await ask({ logprobs: 3, num_beams: 1, skip_special_tokens: undefined });
    expect([status, body.error]).toEqual([200, null]);
    const { logprobs } = body.output as { logprobs: { content: { logprob: number; bytes: number[] }[] } };
    expect(logprobs.content.length).toBeGreaterThan(0);
    for (const { logprob } of logprobs.content) expect(logprob).toBeLessThanOrEqual(0);
    const bytes = Buffer.from(logprobs.content.flatMap((one) => one.bytes)).toString();
    expect(bytes.replaceAll(' ', '')).toContain(textOf(body.output).replaceAll(' ', ''));
  });

  test.each([{ num_return_sequences: 2, do_sample: true }, { logprobs: 0 }])(
    '%j has no place in a stream',
    async (params) => {
      const { status, body } = await ask(params, { stream: true });
      expect([status, body.output]).toEqual([400, null]);
      expect(body.error).toContain(Object.keys(params)[0]);
    },
  );

  test('ends with the first token of a stop sequence', async () => {
    const { body: whole } = await ask({ num_beams: 1 });
    const { status } = await ask({ num_beams: 1, stop_sequence: textOf(whole.output).slice(-3) || 'x' });
    expect(status).toBe(200);
  });
});
