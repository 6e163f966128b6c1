import OpenAI from 'openai';
import { closeServers, secret } from '../fakes/gateway.js';
import { MOUNTS } from '../fakes/dialects.js';
import { CALLS, messages, model, post, says, seen, tools } from '../fakes/talking-model.js';

afterEach(closeServers);
beforeEach(() => seen.splice(0));

describe.each(MOUNTS)('OpenAI’s chat, %s', (mount) => {
  const client = async () =>
    new OpenAI({ apiKey: secret, baseURL: `${await model(mount)}/v1`, maxRetries: 0 }).chat.completions;

  test('calls of tools, whole', async () => {
    const answer = await (await client()).create({ model: 'test/model', messages, tools });
    expect(answer.choices[0]).toMatchObject({
      message: { content: 'Let me look.', reasoning_content: 'hm yes', tool_calls: CALLS, refusal: null },
      finish_reason: 'tool_calls',
    });
    expect(answer.usage).toMatchObject({ completion_tokens_details: { reasoning_tokens: 2 } });
    expect(seen[0]!['params']).toMatchObject({ tools, parse_response: true });
  });

  test('calls of tools, as the client’s own helper accumulates them', async () => {
    const stream = (await client()).stream({ model: 'test/model', messages, tools });
    const { message, finish_reason } = (await stream.finalChatCompletion()).choices[0]!;
    expect([message.content, message.tool_calls, finish_reason]).toEqual([
      'Let me look.',
      CALLS.map((call) =>
        expect.objectContaining({ id: call.id, function: expect.objectContaining(call.function) }),
      ),
      'tool_calls',
    ]);
  });

  test.each([
    ['auto', {}],
    ['none', { tool_choice: 'none' }],
    ['required', { tool_choice: 'required' }],
    [{ type: 'function', function: { name: 'weather' } }, { tool_choice: { name: 'weather' } }],
    [{ type: 'allowed_tools', allowed_tools: { mode: 'required', tools } }, { tool_choice: 'required' }],
  ])('tool_choice %j', async (tool_choice, expected) => {
    await post(`${await model(mount)}/v1/chat/completions`, {
      model: 'test/model',
      messages,
      tools,
      tool_choice,
    });
    const { tool_choice: _, ...rest } = { tool_choice: undefined, ...expected };
    expect(seen[0]!['params']).toMatchObject({ tools, ...expected, ...rest });
  });

  test('prompt_logprobs, as vLLM has it', async () => {
    const row = (id: number, logprob: number | null, rank: number | null) => ({
      ...{ id, token: 'a', logprob, rank, bytes: [97] },
      top_logprobs: [{ id: 9, token: 'z', logprob: -0.1, bytes: [122] }],
    });
    const content = [row(1, null, null), row(2, -1.5, 3)];
    const output = { role: 'assistant', content: 'b', prompt_logprobs: { content } };
    const { text } = await post(`${await model(mount, [], output)}/v1/chat/completions`, {
      ...{ model: 'test/model', messages, prompt_logprobs: 1 },
    });
    expect(JSON.parse(text)).toMatchObject({
      choices: [{ message: { content: 'b' }, logprobs: null }],
      prompt_logprobs: [
        null,
        {
          2: { logprob: -1.5, rank: 3, decoded_token: 'a' },
          9: { logprob: -0.1, rank: 1, decoded_token: 'z' },
        },
      ],
    });
    expect(seen[0]!['params']).toMatchObject({ prompt_logprobs: 1 });
  });

  test.each([
    ['tool_choice', { tool_choice: 'required' }],
    ['tool_choice', { tools, tool_choice: { type: 'function', function: { name: 'other' } } }],
    ['tools.0.type', { tools: [{ type: 'web_search' }] }],
    ['prompt_logprobs', { prompt_logprobs: 1, stream: true }],
    ['functions', { functions: [{ name: 'f' }] }],
    ['response_format', { response_format: { type: 'json_object' }, guided_regex: 'a' }],
  ])('%s of %j is refused by name', async (param, fields) => {
    const { status, text } = await post(`${await model(mount)}/v1/chat/completions`, {
      ...{ model: 'test/model', messages },
      ...fields,
    });
    expect([status, JSON.parse(text)]).toEqual([
      400,
      { error: expect.objectContaining({ param, message: expect.stringContaining(`${param}: `) }) },
    ]);
    expect(seen).toEqual([]);
  });

  const schema = { type: 'object', properties: { a: { type: 'integer' } } };

  test.each<[object, object]>([
    [
      { response_format: { type: 'json_schema', json_schema: { name: 'x', schema, strict: true } } },
      { json_schema: schema },
    ],
    [{ response_format: { type: 'json_object' } }, { json_object: true }],
    [{ response_format: { type: 'text' } }, {}],
    [{ guided_json: JSON.stringify(schema) }, { json_schema: schema }],
    [{ guided_regex: '[a-z]+' }, { regex: '[a-z]+' }],
    [{ guided_choice: ['a', 'b'] }, { choices: ['a', 'b'] }],
    [{ structured_outputs: { grammar: 'start: "a"' } }, { grammar: 'start: "a"' }],
  ])('a format arrives as a param: %j', async (fields, params) => {
    const url = `${await says(mount, 'a')}/v1/chat/completions`;
    const { status } = await post(url, { model: 'test/model', messages, ...fields });
    expect(status).toBe(200);
    expect(seen[0]!['params']).toEqual({ continue_final_message: false, parse_response: true, ...params });
  });

  test('values that change nothing are accepted, and hints are named', async () => {
    const neutral = {
      ...{
        tools: [],
        functions: [],
        tool_choice: 'auto',
        top_k: -1,
        seed: -1,
        max_tokens: -1,
        min_tokens: 0,
      },
      ...{ best_of: 1, ignore_eos: false, skip_special_tokens: true, stop: [''], stop_token_ids: [] },
      ...{ add_generation_prompt: true, include_stop_str_in_output: false, parallel_tool_calls: true },
    };
    const hints = { num_ctx: 4096, keep_alive: '5m', verbosity: 'low', store: false, user: 'me' };
    const answered = await post(`${await says(mount, 'a')}/v1/chat/completions`, {
      ...{ model: 'test/model', messages: [{ ...messages[0], tool_calls: [] }, ...messages] },
      ...neutral,
      ...hints,
    });
    expect(answered.status).toBe(200);
    expect(answered.ignored!.split(', ').sort()).toEqual(Object.keys(hints).sort());
    const { params, messages: sent } = seen[0] as { params: object; messages: object[] };
    expect(params).toEqual({
      ...{ skip_special_tokens: true, continue_final_message: false },
      parse_response: true,
    });
    expect(sent[0]).toEqual(messages[0]);
  });

  test('a history with calls and their results', async () => {
    const history = [
      ...messages,
      { role: 'assistant', content: null, tool_calls: [CALLS[0]], annotations: [], refusal: null },
      { role: 'tool', tool_call_id: 'call_a', content: '21 °C' },
    ];
    await post(`${await model(mount)}/v1/chat/completions`, {
      model: 'test/model',
      messages: history,
      tools,
    });
    expect(seen[0]!['messages']).toEqual([
      ...messages,
      { role: 'assistant', content: null, tool_calls: [CALLS[0]] },
      { role: 'tool', tool_call_id: 'call_a', content: '21 °C' },
    ]);
  });
});
