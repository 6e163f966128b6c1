import OpenAI, { BadRequestError, NotFoundError } from 'openai';
import { ENDPOINTS } from '../../../runtime/dialects/openai/models.js';
import { secret as KEY } from '../../fakes/gateway.js';
import { misfitOf } from '../../fakes/hosted-document.js';
import type { ZooGateway } from '../../fakes/zoo-gateway.js';

/** OpenAI's official client before a real gateway and real models. */
export function openAiClient(zooOf: () => ZooGateway): void {
  let zoo: ZooGateway;
  let client: OpenAI;
  beforeAll(() => {
    zoo = zooOf();
    client = new OpenAI({ apiKey: KEY, baseURL: `${zoo.base}/openai/v1`, maxRetries: 0 });
  });

  /** What the interface's own route answers. */
  async function native<T>(task: string, body: object): Promise<T> {
    const answer = await fetch(`${zoo.base}/zoo/${task}`, {
      method: 'POST',
      headers: { authorization: KEY, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return ((await answer.json()) as { output: T }).output;
  }

  async function all<T>(stream: AsyncIterable<T>): Promise<T[]> {
    const found = [];
    for await (const item of stream) found.push(item);
    return found;
  }

  const PROMPT = 'The cat sat on';
  const messages = [{ role: 'user' as const, content: PROMPT }];
  const chat = { model: 'zoo/chat', messages, max_tokens: 8 };
  const text = { model: 'zoo/text-generation', prompt: PROMPT, max_tokens: 8 };
  const GREEDY = { max_new_tokens: 8 };

  describe('models', () => {
    test('are those that an endpoint asks', async () => {
      const { data } = await client.models.list();
      const asked = new Set(Object.values(ENDPOINTS).flat());
      const tasks = [...asked].filter((task) => zoo.models.has(task)).toSorted();
      expect(tasks.length).toBeGreaterThan(13);
      expect(data.map(({ id }) => id)).toEqual(tasks.map((task) => `zoo/${task}`));
    });

    test('have ids with a slash, which clients send raw or encoded', async () => {
      const model = { id: 'zoo/chat', object: 'model', created: 0, owned_by: 'zoo' };
      expect(await client.models.retrieve('zoo/chat')).toEqual(model);
      const raw = await fetch(`${zoo.base}/openai/v1/models/zoo/chat`, {
        headers: { authorization: `Bearer ${KEY}` },
      });
      expect(await raw.json()).toEqual(model);
    });

    test.each(['zoo/none', 'zoo/fill-mask', 'zoo', '../zoo/chat'])('%s is none of them', async (id) => {
      const error = await client.models.retrieve(id).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(NotFoundError);
    });
  });

  describe('chat completions', () => {
    test('are what the chat task answers', async () => {
      const { content } = await native<{ content: string }>('chat', { messages, params: GREEDY });
      const answer = await client.chat.completions.create(chat);
      expect(answer).toMatchObject({
        object: 'chat.completion',
        model: 'zoo/chat',
        id: expect.stringMatching(/^chatcmpl-/),
      });
      expect(answer.choices).toEqual([
        {
          index: 0,
          message: { role: 'assistant', content, refusal: null },
          logprobs: null,
          finish_reason: 'length',
        },
      ]);
      const { prompt_tokens, completion_tokens, total_tokens } = answer.usage!;
      expect([completion_tokens, total_tokens]).toEqual([8, prompt_tokens + 8]);
      expect(Math.abs(answer.created * 1000 - Date.now())).toBeLessThan(60_000);
    });

    test('stream the same text, with role, end and usage where OpenAI has them', async () => {
      const whole = await client.chat.completions.create(chat);
      const chunks = await all(
        await client.chat.completions.create({
          ...chat,
          stream: true,
          stream_options: { include_usage: true },
        }),
      );
      const deltas = chunks.flatMap(({ choices }) => choices);
      expect(deltas.map(({ delta }) => delta.content ?? '').join('')).toBe(whole.choices[0]!.message.content);
      expect(deltas[0]!.delta.role).toBe('assistant');
      expect(deltas.map(({ finish_reason }) => finish_reason)).toEqual([
        ...deltas.slice(1).map(() => null),
        'length',
      ]);
      expect(chunks.map(({ usage }) => usage)).toEqual([...chunks.slice(1).map(() => null), whole.usage]);
      expect(chunks.at(-1)!.choices).toEqual([]);
      expect(new Set(chunks.map(({ id, object }) => `${id} ${object}`)).size).toBe(1);
    });

    test('without include_usage no chunk speaks of usage', async () => {
      const chunks = await all(await client.chat.completions.create({ ...chat, stream: true }));
      expect(chunks.filter((chunk) => 'usage' in chunk)).toEqual([]);
    });

    test('end at a stop string, before it', async () => {
      const { content } = (await client.chat.completions.create(chat)).choices[0]!.message;
      const stop = content!.slice(3, 5);
      for (const given of [stop, ['never there', stop]]) {
        const [choice] = (await client.chat.completions.create({ ...chat, stop: given })).choices;
        expect([choice!.message.content, choice!.finish_reason]).toEqual([
          content!.slice(0, content!.indexOf(stop)),
          'stop',
        ]);
      }
    });

    test('draw only when asked to, and again the same with a seed', async () => {
      const said = async (more: object) =>
        (await client.chat.completions.create({ ...chat, ...more })).choices.map(
          ({ message }) => message.content,
        );
      const greedy = await said({});
      expect(await said({ temperature: 0 })).toEqual(greedy);
      expect(await said({ seed: 3 })).toEqual(greedy);
      const drawn = await said({ temperature: 2, seed: 3 });
      expect(drawn).not.toEqual(greedy);
      expect(await said({ temperature: 2, seed: 3 })).toEqual(drawn);
      const several = await said({ temperature: 2, seed: 3, n: 3 });
      expect([several.length, several[0]]).toEqual([3, drawn[0]]);
    });

    test('tell probabilities, streamed or not', async () => {
      const asked = { ...chat, logprobs: true, top_logprobs: 2 } as const;
      const [choice] = (await client.chat.completions.create(asked)).choices;
      const rows = choice!.logprobs!.content!;
      expect(rows).toHaveLength(8);
      expect(rows.map(({ token }) => token).join('')).toBe(choice!.message.content);
      expect(rows.every(({ top_logprobs }) => top_logprobs.length === 2)).toBe(true);
      const chunks = await all(await client.chat.completions.create({ ...asked, stream: true }));
      expect(chunks.flatMap(({ choices }) => choices[0]?.logprobs?.content ?? [])).toEqual(rows);
    });

    test('count biases and penalties', async () => {
      const { logprobs, message } = (await client.chat.completions.create({ ...chat, logprobs: true }))
        .choices[0]!;
      const other = async (more: object) =>
        (await client.chat.completions.create({ ...chat, ...more })).choices[0]!.message.content;
      const first = await native<unknown>('chat', {
        messages,
        params: { ...GREEDY, logit_bias: { 5: 100 } },
      });
      expect({ role: 'assistant', content: await other({ logit_bias: { 5: 100 } }) }).toEqual(first);
      expect(logprobs!.content).toHaveLength(8);
      expect(await other({ logit_bias: { 5: 100 }, frequency_penalty: 2 })).not.toBe(message.content);
    });

    test('take parts of text, and developers for systems', async () => {
      const [system, user] = ['Be short.', PROMPT];
      const known = await native<{ content: string }>('chat', {
        messages: [
          { role: 'system', content: system },
          { role: 'user', content: user },
        ],
        params: GREEDY,
      });
      const answer = await client.chat.completions.create({
        ...chat,
        messages: [
          { role: 'developer', content: system },
          { role: 'user', content: [{ type: 'text', text: user }] },
        ],
      });
      expect(answer.choices[0]!.message.content).toBe(known.content);
    });

    test('go on with a conversation that the client has kept', async () => {
      const { message } = (await client.chat.completions.create(chat)).choices[0]!;
      const more = [...messages, message, { role: 'user' as const, content: 'And?' }];
      const answer = await client.chat.completions.create({ ...chat, messages: more });
      expect(answer.usage!.prompt_tokens).toBeGreaterThan(28);
    });

    test('a model that is broken off makes nobody wait, and frees its place', async () => {
      const stream = await client.chat.completions.create({ ...chat, max_tokens: 400, stream: true });
      for await (const chunk of stream) if (chunk.choices[0]!.delta.content) break;
      expect((await client.chat.completions.create(chat)).choices).toHaveLength(1);
    });
  });

  describe('completions', () => {
    test('are the continuation, with the prompt where it is wanted', async () => {
      const known = await native<string>('text-generation', { text: PROMPT, params: GREEDY });
      const { choices, usage } = await client.completions.create(text);
      expect(PROMPT + choices[0]!.text).toBe(known);
      expect(usage!.completion_tokens).toBe(8);
      expect((await client.completions.create({ ...text, echo: true })).choices[0]!.text).toBe(known);
      const chunks = await all(await client.completions.create({ ...text, echo: true, stream: true }));
      expect(chunks.map((chunk) => chunk.choices[0]!.text).join('')).toBe(known);
      expect(chunks.at(-1)!.choices[0]!.finish_reason).toBe('length');
    });

    test('of several prompts come in their order, streamed or not', async () => {
      const prompt = [PROMPT, 'A dog', PROMPT];
      const alone = [];
      for (const one of prompt)
        alone.push((await client.completions.create({ ...text, prompt: one })).choices[0]!.text);
      const { choices, usage } = await client.completions.create({ ...text, prompt });
      expect(choices.map((choice) => choice.text)).toEqual(alone);
      expect(choices.map(({ index }) => index)).toEqual([0, 1, 2]);
      expect(usage!.completion_tokens).toBe(24);
      const chunks = await all(await client.completions.create({ ...text, prompt, stream: true }));
      const said = [0, 1, 2].map((index) =>
        chunks
          .flatMap((chunk) => chunk.choices.filter((one) => one.index === index).map((one) => one.text))
          .join(''),
      );
      expect(said).toEqual(alone);
    });

    test('have probabilities by column', async () => {
      const [choice] = (await client.completions.create({ ...text, logprobs: 2 })).choices;
      const { tokens, token_logprobs, top_logprobs, text_offset } = choice!.logprobs!;
      expect(tokens!.join('')).toBe(choice!.text);
      expect(tokens!.map((_, i) => Array.from(tokens!.slice(0, i).join('')).length)).toEqual(text_offset);
      expect(top_logprobs!.map((row) => row[Object.keys(row)[0]!])).toEqual(token_logprobs);
    });

    test('of an encoder-decoder are its answer', async () => {
      const known = await native<string>('text2text-generation', { text: PROMPT, params: GREEDY });
      const { choices } = await client.completions.create({ ...text, model: 'zoo/text2text-generation' });
      expect(choices[0]!.text).toBe(known);
    });
  });

  describe('embeddings', () => {
    const model = 'zoo/sentence-similarity';
    const vectorOf = (input: string) => native<number[]>('sentence-similarity', { text: input });

    test('are the task’s vectors, in the form that the client decodes by itself', async () => {
      const { data, usage } = await client.embeddings.create({
        model,
        input: ['A cat', 'A much longer text'],
      });
      expect(data.map(({ index }) => index)).toEqual([0, 1]);
      expect(data[0]!.embedding).toEqual(await vectorOf('A cat'));
      expect(data[1]!.embedding).toEqual(await vectorOf('A much longer text'));
      expect(usage.prompt_tokens).toBe(usage.total_tokens);
      expect(usage.prompt_tokens).toBeGreaterThan(8);
    });

    test('are numbers where the caller wants numbers, as many as there are, or fewer', async () => {
      const known = await vectorOf('A cat');
      const asked = { model, input: 'A cat', encoding_format: 'float', dimensions: known.length } as const;
      expect((await client.embeddings.create(asked)).data[0]!.embedding).toEqual(known);
      const short = await client.embeddings.create({ ...asked, dimensions: 3 });
      const kept = known.slice(0, 3);
      const expected = kept.map((value) => value / Math.hypot(...kept));
      // As OpenAI cuts: of length 1 again.
      short.data[0]!.embedding.forEach((value, i) => expect(value).toBeCloseTo(expected[i]!, 6));
      const other = client.embeddings.create({ ...asked, dimensions: known.length + 1 });
      await expect(other).rejects.toMatchObject({ status: 400, param: 'dimensions' });
    });
  });

  test.each([
    ['chat', 'zoo/text-generation', '/models/v2/openai/v1/completions'],
    ['chat', 'zoo/fill-mask', '/models/v2/zoo/fill-mask'],
    ['completions', 'zoo/sentence-similarity', '/models/v2/openai/v1/embeddings'],
  ])('the %s endpoint names the right one for %s', async (endpoint, model, right) => {
    const error: unknown = await (
      endpoint === 'chat'
        ? client.chat.completions.create({ ...chat, model })
        : client.completions.create({ ...text, model })
    ).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(BadRequestError);
    expect(error).toMatchObject({ param: 'model', message: expect.stringContaining(`ask POST ${right}`) });
  });

  test('a model whose every text is about an image says so', async () => {
    const asked = client.completions.create({ ...text, model: 'zoo/image-text-to-text' });
    const message = expect.stringContaining('this model continues no text without a medium') as string;
    await expect(asked).rejects.toMatchObject({ status: 422, param: 'prompt', message });
  });

  test('answers are what the interface’s own document says', async () => {
    const told = { logprobs: true, top_logprobs: 1 };
    const answers: [string, unknown][] = [
      ['Chat', await client.chat.completions.create({ ...chat, ...told })],
      ['Completion', await client.completions.create({ ...text, logprobs: 1 })],
      ['Models', (await client.models.list().asResponse()).json()],
      ['Model', await client.models.retrieve('zoo/chat')],
    ];
    for await (const chunk of await client.chat.completions.create({ ...chat, ...told, stream: true }))
      answers.push(['ChatChunk', chunk]);
    for await (const chunk of await client.completions.create({ ...text, stream: true }))
      answers.push(['Completion', chunk]);
    for (const encoding_format of ['float', 'base64'] as const) {
      const asked = { model: 'zoo/sentence-similarity', input: 'x', encoding_format };
      answers.push(['Embeddings', await client.embeddings.create(asked)]);
    }
    for (const [name, answer] of answers)
      expect([name, misfitOf(`openai.${name}`, await answer)]).toEqual([name, null]);
    const refused = await fetch(`${zoo.base}/openai/v1/models`);
    expect(misfitOf('openai.Error', await refused.json())).toBeNull();
  });
}
