import type { TaskId } from '../../runtime/core/task-ids.js';
import { closeServers } from '../fakes/gateway.js';
import { mounted, MOUNTS, type Mount } from '../fakes/dialects.js';
import { post } from '../fakes/talking-model.js';

afterEach(closeServers);

interface Given {
  text?: string;
  messages?: unknown;
  params: Record<string, unknown>;
}

const seen: Given[] = [];
beforeEach(() => seen.splice(0));

const token = (id: number, text: string, logprob: number | null) => ({
  ...{ id, token: text, logprob, bytes: [...Buffer.from(text)] },
});
const likely = [token(7, ' on', -0.25), token(9, ' off', -1.5)];

/** A prompt of three tokens, the first of which is special; the model writes one token and its end. */
const PROMPT = [
  { ...token(1, '<s>', null), special: true, rank: null, top_logprobs: [] },
  { ...token(5, 'Go', -2), rank: 4, top_logprobs: likely },
  { ...token(7, ' on', -0.25), rank: 1, top_logprobs: likely },
];
const WRITTEN = [{ ...token(8, '!', -0.5), top_logprobs: [token(8, '!', -0.5), token(9, ' off', -1)] }];
const END = { ...token(2, '</s>', -0.1), special: true, top_logprobs: [token(2, '</s>', -0.1)] };

const model = (mount: Mount, task: TaskId = 'text-generation') =>
  mounted(mount, {
    task,
    async run(input, { onDelta, onUsage }) {
      const given = input as unknown as Given;
      seen.push(given);
      const { params } = given;
      const isRead = params['count_only'] === true;
      onUsage?.({ tokensIn: 3, tokensOut: isRead ? 0 : 2, finish: [isRead ? 'length' : 'stop'] });
      if (!isRead) onDelta?.({ text: '!' });
      const echoes = params['return_full_text'] === true || params['continue_final_message'] === true;
      const text = `${echoes ? 'Go on' : ''}${isRead ? '' : '!'}`;
      const told = {
        ...(params['logprobs'] == null ? {} : { logprobs: { content: WRITTEN, end: END } }),
        ...(params['prompt_logprobs'] == null ? {} : { prompt_logprobs: { content: PROMPT } }),
      };
      if ('messages' in given) return { role: 'assistant', content: text, ...told };
      return Object.keys(told).length > 0 ? { generated_text: text, ...told } : text;
    },
  });

async function complete(base: string, body: object) {
  const { status, text } = await post(`${base}/v1/completions`, { model: 'test/model', ...body });
  return {
    status,
    ...(JSON.parse(text) as { choices: Record<string, unknown>[]; error: object; usage: object }),
  };
}

describe.each(MOUNTS)('completions, %s', (mount) => {
  test.each([
    ['a list of tokens', [1, 5, 7], [[1, 5, 7]]],
    ['lists of tokens', [[1, 5], [7]], [[1, 5], [7]]],
  ])('%s are prompts', async (_name, prompt, expected) => {
    const { status, choices } = await complete(await model(mount), { prompt, max_tokens: 1 });
    expect([status, choices.map(({ text }) => text)]).toEqual([200, expected.map(() => '!')]);
    expect(seen.map(({ text, params }) => [text, params['prompt_token_ids']])).toEqual(
      expected.map((ids) => ['', ids]),
    );
  });

  test.each([
    ['Go on', 'a text'],
    [[1, 5, 7], 'tokens'],
  ])(
    'echo with logprobs of %j, %s: rows of the prompt and of all that was written',
    async (prompt, _kind) => {
      const { choices } = await complete(await model(mount), {
        prompt,
        echo: true,
        logprobs: 1,
        max_tokens: 2,
      });
      expect(choices).toEqual([
        {
          ...{ index: 0, text: 'Go on!', finish_reason: 'stop' },
          logprobs: {
            tokens: ['<s>', 'Go', ' on', '!', '</s>'],
            token_logprobs: [null, -2, -0.25, -0.5, -0.1],
            top_logprobs: [null, { ' on': -0.25, Go: -2 }, { ' on': -0.25 }, { '!': -0.5 }, { '</s>': -0.1 }],
            text_offset: [0, 0, 2, 5, 6],
          },
        },
      ]);
      expect(seen[0]!.params).toMatchObject({ logprobs: 1, prompt_logprobs: 1 });
    },
  );

  test('max_tokens: 0 reads the prompt and writes nothing', async () => {
    const body = { prompt: 'Go on', echo: true, logprobs: 0, max_tokens: 0 };
    const { choices, usage } = await complete(await model(mount), body);
    expect(choices).toMatchObject([
      { text: 'Go on', finish_reason: 'length', logprobs: { token_logprobs: [null, -2, -0.25] } },
    ]);
    expect(usage).toMatchObject({ prompt_tokens: 3, completion_tokens: 0 });
    expect(seen[0]!.params).toEqual({ prompt_logprobs: 0, count_only: true, return_full_text: false });
  });

  test('prompt_logprobs, as vLLM has it', async () => {
    const { choices } = await complete(await model(mount), { prompt: [1, 5, 7], prompt_logprobs: 2 });
    expect(choices[0]).toMatchObject({
      ...{ text: '!', logprobs: null },
      prompt_logprobs: [
        null,
        {
          5: { logprob: -2, rank: 4, decoded_token: 'Go' },
          7: { logprob: -0.25, rank: 1, decoded_token: ' on' },
          9: { logprob: -1.5, rank: 2, decoded_token: ' off' },
        },
        { 7: { logprob: -0.25, rank: 1 }, 9: { rank: 2 } },
      ],
    });
  });

  test.each(['image-text-to-text', 'audio-text-to-text', 'video-text-to-text'] as const)(
    'a model of %s continues a text as it is',
    async (task) => {
      const base = await model(mount, task);
      const { choices } = await complete(base, { prompt: 'Go on', echo: true, add_special_tokens: false });
      expect(choices).toMatchObject([{ text: 'Go on!', finish_reason: 'stop' }]);
      expect(seen).toMatchObject([
        {
          messages: [{ role: 'user', content: 'Go on' }],
          params: { apply_chat_template: false, add_special_tokens: false },
        },
      ]);
      for (const refused of [{ prompt: [1, 5] }, { prompt: 'x', prompt_logprobs: 1 }]) {
        const { status, error } = await complete(base, refused);
        expect([status, error]).toEqual([
          400,
          expect.objectContaining({ message: expect.stringContaining('a model that reads texts only') }),
        ]);
      }
    },
  );

  test('a stream with an echo of tokens gets it, and ends', async () => {
    const { status, text } = await post(`${await model(mount)}/v1/completions`, {
      ...{ model: 'test/model', prompt: [1, 5, 7], echo: true, logprobs: 1, stream: true },
    });
    const events = text.trim().split('\n\n');
    const [first] = events.map((event) => event.slice('data: '.length));
    expect([status, events.at(-1)]).toEqual([200, 'data: [DONE]']);
    expect(JSON.parse(first!)).toMatchObject({
      choices: [{ text: 'Go on!', logprobs: { tokens: ['<s>', 'Go', ' on', '!', '</s>'] } }],
    });
  });

  test.each<[string | number[], string]>([
    ['Go on', 'Go on!'],
    [[1, 5, 7], 'Go on!'],
  ])('a chat model continues %j as it is', async (prompt, text) => {
    const { choices } = await complete(await model(mount, 'chat'), { prompt, echo: true });
    expect(choices).toMatchObject([{ text, finish_reason: 'stop' }]);
    expect(seen[0]).toMatchObject({
      messages: [{ role: 'user', content: typeof prompt === 'string' ? prompt : '' }],
      params: { apply_chat_template: false },
    });
  });

  test('a chat model streams what it continues', async () => {
    const body = { model: 'test/model', prompt: 'Go on', echo: true, stream: true };
    const { text } = await post(`${await model(mount, 'chat')}/v1/completions`, body);
    const pieces = [...text.matchAll(/"text":"([^"]*)"/g)].map(([, piece]) => piece);
    expect(pieces.join('')).toBe('Go on!');
  });

  test('ends are ignored and added in the engine', async () => {
    const fields = { ignore_eos: true, stop_token_ids: [4, 6], min_tokens: 2, max_tokens: 5 };
    await complete(await model(mount), { prompt: 'x', ...fields, add_special_tokens: false });
    await post(`${await model(mount, 'chat')}/v1/chat/completions`, {
      ...{ model: 'test/model', messages: [{ role: 'user', content: 'x' }] },
      ...fields,
    });
    const expected = { ignore_eos: true, stop_token_ids: [4, 6], min_new_tokens: 2, max_new_tokens: 5 };
    expect(seen.map(({ params }) => params)).toEqual([
      expect.objectContaining({ ...expected, add_special_tokens: false }),
      expect.objectContaining(expected),
    ]);
  });

  test.each<[TaskId, object, string]>([
    ['summarization', { prompt: [1] }, 'prompt'],
    ['summarization', { prompt: 'x', echo: true, logprobs: 1 }, 'echo'],
    ['summarization', { prompt: 'x', prompt_logprobs: 1 }, 'prompt_logprobs'],
    ['chat', { prompt: [] }, 'prompt'],
    ['chat', { prompt: [2 ** 60] }, 'prompt.0'],
    ['text-generation', { prompt: 'x', stop_token_ids: ['a'] }, 'stop_token_ids.0'],
  ])('%s: %j is refused by name', async (task, body, param) => {
    const { status, error } = await complete(await model(mount, task), body);
    expect([status, error]).toEqual([400, expect.objectContaining({ param })]);
    expect(seen).toEqual([]);
  });
});

/** What POST /run itself says of these parameters. */
test.each<[TaskId, object, RegExp]>([
  [
    'text-generation',
    { text: 'x', params: { prompt_token_ids: [1] } },
    /params\.prompt_token_ids: stands in place/,
  ],
  ['text-generation', { text: '', params: { prompt_token_ids: [1], prefix: 'x' } }, /params\.prefix: /],
  [
    'text-generation',
    { text: 'x', stream: true, params: { prompt_logprobs: 1 } },
    /params\.prompt_logprobs: a stream/,
  ],
  [
    'chat',
    { messages: [{ role: 'user', content: 'x' }], params: { prompt_token_ids: [1] } },
    /params\.prompt_token_ids: needs params\.apply_chat_template/,
  ],
  [
    'chat',
    {
      messages: [
        { role: 'user', content: 'x' },
        { role: 'user', content: 'y' },
      ],
      params: { apply_chat_template: false },
    },
    /params\.apply_chat_template: /,
  ],
  [
    'chat',
    {
      messages: [{ role: 'user', content: 'x' }],
      params: { apply_chat_template: false, parse_response: true },
    },
    /params\.parse_response: /,
  ],
])('%s: %j is a 400', async (task, body, message) => {
  const { status, text } = await post(`${await model('container', task)}/run`, body);
  expect([status, JSON.parse(text)]).toEqual([400, { error: expect.stringMatching(message), output: null }]);
});
