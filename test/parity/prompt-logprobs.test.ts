import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import request from 'supertest';
import type { TaskId } from '../../runtime/core/task-ids.js';
import { plannedModel, type ServedModel, serveInline } from './load.js';

const FIXTURES = join(import.meta.dirname, '..', 'fixtures');

interface Row {
  logprob: number;
  rank: number;
  top: [id: number, logprob: number][];
}

interface Case {
  ids: number[];
  /** Of all rows. */
  sum: number;
  /** The first six and the last three, where there are more. */
  rows: Row[];
}

/** transformers' logits under torch's log_softmax (scripts/fixtures/prompt_logprobs.py). */
const REFERENCE = JSON.parse(readFileSync(join(FIXTURES, 'prompt-logprobs.json'), 'utf8')) as Record<
  string,
  { vocabulary: number; cases: Case[] }
>;

interface Choice {
  text: string;
  finish_reason: string;
  logprobs: { token_logprobs: (number | null)[]; top_logprobs: (Record<string, number> | null)[] };
  prompt_logprobs: (Record<string, { logprob: number; rank: number }> | null)[];
}

describe.each(Object.entries(REFERENCE))('%s', (name, { vocabulary, cases }) => {
  const [task, folder] = name.split('/') as [TaskId, string];
  let served: ServedModel;
  let dir: string;
  beforeAll(async () => {
    const repo = join(FIXTURES, 'zoo-weights', task, folder, 'repo');
    const planned = await plannedModel(task, `zoo/${folder}`, repo);
    ({ dir } = planned);
    served = await serveInline(planned.spec, dir);
  });
  afterAll(async () => {
    served.stop();
    await rm(dir, { recursive: true });
  });

  async function complete(body: object) {
    const answer = await request(served.app).post('/v1/completions').send(body);
    return {
      status: answer.status,
      body: answer.body as { choices: Choice[]; usage: object; error?: unknown },
    };
  }

  test.each(cases.map((one) => [one.ids.length, one] as const))(
    'log-probabilities of a prompt of %d tokens are those of torch',
    async (length, { ids, sum, rows }) => {
      for (const max_tokens of [0, 1]) {
        const asked = { prompt: ids, echo: true, logprobs: 3, prompt_logprobs: 3, max_tokens };
        const { status, body } = await complete(asked);
        expect([status, body.usage]).toEqual([
          200,
          expect.objectContaining({ prompt_tokens: length, completion_tokens: max_tokens }),
        ]);
        const [{ logprobs, prompt_logprobs }] = body.choices as [Choice];
        expect(logprobs.token_logprobs).toHaveLength(length + max_tokens);
        const [first, ...found] = logprobs.token_logprobs.slice(0, length);
        expect([first, logprobs.top_logprobs[0], prompt_logprobs[0]]).toEqual([null, null, null]);
        expect(Math.abs(found.reduce<number>((all, one) => all + one!, 0) - sum)).toBeLessThan(
          0.001 * length,
        );
        const places = rows.map((_, i) => (i < 6 ? i + 1 : length - rows.length + i));
        rows.forEach((row, i) => {
          const at = places[i]!;
          expect(logprobs.token_logprobs[at]).toBeCloseTo(row.logprob, 3);
          const told = prompt_logprobs[at]!;
          expect(told[ids[at]!]).toMatchObject({ rank: row.rank });
          for (const [id, logprob] of row.top) expect(told[id]!.logprob).toBeCloseTo(logprob, 3);
        });
      }
    },
  );

  test('prompts together get what each gets alone', async () => {
    const prompts = cases.map(({ ids }) => ids);
    const asked = { echo: true, logprobs: 1, max_tokens: 0 };
    const together = await complete({ prompt: prompts, ...asked });
    for (const [i, prompt] of prompts.entries()) {
      const alone = (await complete({ prompt, ...asked })).body.choices[0]!.logprobs.token_logprobs;
      together.body.choices[i]!.logprobs.token_logprobs.forEach((one, at) =>
        at === 0 ? expect(one).toBeNull() : expect(one).toBeCloseTo(alone[at]!, 3),
      );
    }
  });

  test('a token that the model does not have is a 400', async () => {
    const { status, body } = await complete({ prompt: [1, vocabulary] });
    expect([status, body.error]).toMatchObject([400, { param: 'prompt' }]);
  });

  const [{ ids: prompt }] = cases.filter(({ ids }) => ids.length === 7) as [Case];

  test.each<[string, object, number]>([
    ['one answer', {}, 1],
    ['several answers', { n: 3, temperature: 2, seed: 1 }, 3],
    ['a stream', { stream: true, stream_options: { include_usage: true } }, 1],
  ])('what ends a text is ignored: %s', async (_name, fields, answers) => {
    const asked = { prompt, max_tokens: 40, ignore_eos: true, ...fields };
    const { text, body } = await request(served.app).post('/v1/completions').send(asked);
    expect(text + JSON.stringify(body)).toContain(`"completion_tokens":${40 * answers}`);
  });

  test('and so it is in beams', async () => {
    const raw = task === 'chat' ? { apply_chat_template: false } : {};
    const message = task === 'chat' ? { messages: [{ role: 'user', content: '' }] } : { text: '' };
    const params = { prompt_token_ids: prompt, max_new_tokens: 30, num_beams: 3, ignore_eos: true, ...raw };
    const answer = await request(served.app)
      .post('/run')
      .send({ ...message, params });
    expect([answer.status, answer.headers['inference-tokens-out']]).toEqual([200, '30']);
  });

  test('a stop token ends an answer, without its text, not before min_tokens', async () => {
    const free = await complete({ prompt, max_tokens: 12, ignore_eos: true, logprobs: 0 });
    const tokens = await request(served.app)
      .post('/run')
      .send(runBody(task, { prompt_token_ids: prompt, max_new_tokens: 12, ignore_eos: true, logprobs: 0 }));
    const { logprobs } = (tokens.body as { output: { logprobs: { content: { id: number }[] } } }).output;
    const ids = logprobs.content.map(({ id }) => id);
    expect(ids).toHaveLength(12);
    const stop = ids[4]!;
    const first = ids.indexOf(stop);
    const asked = { prompt, max_tokens: 12, ignore_eos: true, stop_token_ids: [stop], logprobs: 0 };
    const { body } = await complete(asked);
    expect(body).toMatchObject({
      choices: [{ finish_reason: 'stop' }],
      usage: { completion_tokens: first + 1 },
    });
    expect(free.body.choices[0]!.text.startsWith(body.choices[0]!.text)).toBe(true);
    const later = await complete({ ...asked, min_tokens: 12 });
    expect(later.body.usage).toMatchObject({ completion_tokens: 12 });
  });

  test('a stream of Text Generation Inference tells the tokens that the whole answer has', async () => {
    const asked = {
      inputs: 'The harbour',
      parameters: { details: true, max_new_tokens: 12, top_n_tokens: 2 },
    };
    const whole = await request(served.app).post('/generate').send(asked);
    const [{ generated_text, details }] = [whole.body].flat() as [Generated];
    expect(details.tokens.length).toBeGreaterThan(0);
    const { text } = await request(served.app).post('/generate_stream').send(asked);
    const events = text
      .trim()
      .split('\n\n')
      .map((one) => JSON.parse(one.slice('data:'.length)) as TokenEvent);
    // The prefill is cut otherwise where it is read for the second time.
    const plain = ({ id, logprob, special }: TgiToken) => ({
      id,
      logprob: expect.closeTo(logprob, 4),
      special,
    });
    expect(events.map(({ token }) => token)).toMatchObject(details.tokens.map(plain));
    expect(events.map((one) => one.top_tokens)).toMatchObject(
      details.top_tokens.map((row) => row.map(plain)),
    );
    expect(events.map(({ index }) => index)).toEqual(details.tokens.map((_, i) => i + 1));
    const said = events.filter(({ token }) => !token.special).map(({ token }) => token.text);
    expect(generated_text.endsWith(said.join(''))).toBe(true);
    const { finish_reason, generated_tokens } = details;
    expect(events.at(-1)).toMatchObject({
      details: { finish_reason, generated_tokens },
      generated_text: said.join(''),
    });
  });

  if (task === 'chat')
    test('prompt_logprobs of a conversation are those of its template’s prompt', async () => {
      const messages = [{ role: 'user', content: 'The harbour' }];
      const params = { prompt_logprobs: 2, max_new_tokens: 1 };
      const run = await request(served.app).post('/run').send({ messages, params });
      const { content } = (
        run.body as { output: { prompt_logprobs: { content: { id: number; logprob: number }[] } } }
      ).output.prompt_logprobs;
      const answer = await request(served.app)
        .post('/v1/chat/completions')
        .send({ messages, prompt_logprobs: 2, max_tokens: 1 });
      const told = (answer.body as { prompt_logprobs: (Record<string, { logprob: number }> | null)[] })
        .prompt_logprobs;
      expect(told).toHaveLength(content.length);
      expect(told[0]).toBeNull();
      content
        .slice(1)
        .forEach(({ id, logprob }, i) => expect(told[i + 1]![id]!.logprob).toBeCloseTo(logprob, 5));
    });
});

interface TgiToken {
  id: number;
  text: string;
  logprob: number;
  special: boolean;
}

interface TokenEvent {
  index: number;
  token: TgiToken;
  top_tokens: TgiToken[];
}

interface Generated {
  generated_text: string;
  details: {
    tokens: TgiToken[];
    top_tokens: TgiToken[][];
    finish_reason: string;
    generated_tokens: number;
  };
}

function runBody(task: TaskId, params: object): object {
  return task === 'chat'
    ? { messages: [{ role: 'user', content: '' }], params: { ...params, apply_chat_template: false } }
    : { text: '', params };
}
