import { IMAGE } from '../../runtime/tasks/example.js';
import { closeServers, secret } from '../fakes/gateway.js';
import {
  chunk,
  DONE,
  history,
  MADE,
  openAiAnswer,
  provider,
  PROVIDER_KEY,
  remoteGateway,
  run,
  sends,
  streams,
} from '../fakes/provider.js';
import { events, json, messages, post, tools } from '../fakes/talking-model.js';

/** Models that others serve: what callers ask and get, and what providers are asked, in each interface. */

afterEach(closeServers);

const rootOf = (base: string) => base.slice(0, -'/models/v2'.length);

const schema = { type: 'object', properties: { n: { type: 'integer' } } };

describe('OpenAI’s chat', () => {
  test('POST /run, whole: the envelope, its tokens and cost; the key reaches the provider only', async () => {
    const { url, asked } = await provider(openAiAnswer());
    const base = await remoteGateway({ url: `${url}/v1/` });
    const { status, headers, text } = await run(base, {
      messages,
      params: { max_new_tokens: 9, do_sample: false },
    });
    expect([status, JSON.parse(text)]).toEqual([
      200,
      { error: null, output: { role: 'assistant', content: 'Let me look.' } },
    ]);
    expect(Object.fromEntries(headers)).toMatchObject({
      ...{ 'inference-tokens-in': '11', 'inference-tokens-out': '5', 'inference-finish-reason': 'stop' },
      ...{ 'inference-meter': 'micro-lm', 'content-type': 'application/json; charset=utf-8' },
    });
    expect(asked[0]).toMatchObject({
      path: '/v1/chat/completions',
      headers: { authorization: `Bearer ${PROVIDER_KEY}` },
      body: { model: 'gpt-x', messages, max_tokens: 9, temperature: 0 },
    });
    expect(asked[0]!.body).not.toHaveProperty('stream');
    expect(JSON.stringify(asked[0])).not.toContain(secret);
  });

  test('POST /run, as text: the content only', async () => {
    const { url } = await provider(openAiAnswer({ reasoning: 'hm', calls: MADE }));
    const base = await remoteGateway({ url });
    const { headers, text } = await run(base, { messages, stream: true });
    expect([headers.get('content-type'), text]).toEqual(['text/plain; charset=utf-8', 'Let me look.']);
  });

  test('POST /run, as events: pieces, and the whole answer with its tokens at the end', async () => {
    const { url, asked } = await provider(openAiAnswer({ reasoning: 'hm', calls: MADE }));
    const base = await remoteGateway({ url });
    const { text } = await run(base, { messages, stream: true }, { accept: 'text/event-stream' });
    const all = events(text);
    expect(all.slice(0, -1).map(({ data }) => data)).toEqual([
      { reasoning: 'hm' },
      { text: 'Let ' },
      { text: 'me ' },
      { text: 'look.' },
      { call: { index: 0, id: 'call_a', name: 'weather' } },
      { call: { index: 0, arguments: '{"city": ' } },
      { call: { index: 0, arguments: '"Wien"}' } },
    ]);
    expect(all.at(-1)).toEqual({
      name: 'final',
      data: {
        output: { role: 'assistant', content: 'Let me look.', reasoning_content: 'hm', tool_calls: MADE },
        usage: { tokens_in: 11, tokens_out: 5, finish_reason: 'tool_calls' },
      },
    });
    expect(asked[0]!.body).toMatchObject({ stream: true, stream_options: { include_usage: true } });
  });

  test('OpenAI’s own route, whole and streamed alike', async () => {
    const { url, asked } = await provider(openAiAnswer({ reasoning: 'hm', calls: MADE }));
    const base = await remoteGateway({ url });
    const body = {
      model: 'org/remote',
      messages,
      tools,
      tool_choice: 'required',
      parallel_tool_calls: false,
    };
    const whole = await json(post(`${base}/openai/v1/chat/completions`, body));
    expect(whole).toMatchObject({
      model: 'org/remote',
      choices: [
        {
          message: { content: 'Let me look.', reasoning_content: 'hm', tool_calls: MADE },
          finish_reason: 'tool_calls',
        },
      ],
      usage: { prompt_tokens: 11, completion_tokens: 5 },
    });
    const { text } = await post(`${base}/openai/v1/chat/completions`, {
      ...{ ...body, stream: true, stream_options: { include_usage: true } },
    });
    const deltas = [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => JSON.parse(data!));
    const contents = deltas.map(({ choices }) => choices[0]?.delta.content ?? '');
    expect([contents.join(''), deltas.at(-1).usage]).toMatchObject(['Let me look.', { prompt_tokens: 11 }]);
    expect(text).toContain('"finish_reason":"tool_calls"');
    for (const one of asked)
      expect(one.body).toMatchObject({ tools, tool_choice: 'required', parallel_tool_calls: false });
  });

  test('what a conversation holds, as its provider wants it', async () => {
    const { url, asked } = await provider(openAiAnswer());
    const base = await remoteGateway({ url }, { task: 'image-text-to-text' });
    const shown = {
      role: 'user',
      content: [{ type: 'image', base64: `data:text/html;base64,${IMAGE}` }, 'Look'],
    };
    const { status } = await run(base, {
      messages: [...history, shown],
      params: { tools, tool_choice: { name: 'weather' } },
    });
    expect(status).toBe(200);
    expect(asked[0]!.body).toMatchObject({
      tool_choice: { type: 'function', function: { name: 'weather' } },
      messages: [
        ...history.slice(0, 2),
        {
          ...{ role: 'assistant', content: '', reasoning_content: 'so' },
          tool_calls: [
            { id: 'call_0', type: 'function', function: { name: 'weather', arguments: '{"city":"Wien"}' } },
          ],
        },
        { role: 'tool', content: 'rain', tool_call_id: 'call_0' },
        history[4],
        {
          role: 'user',
          content: [
            { type: 'image_url', image_url: { url: `data:image/png;base64,${IMAGE}` } },
            { type: 'text', text: 'Look' },
          ],
        },
      ],
    });
  });

  test('formats of answers', async () => {
    const { url, asked } = await provider(openAiAnswer({ content: '{"n":1}' }));
    const base = await remoteGateway({ url });
    const format = { type: 'json_schema', json_schema: { name: 'x', schema } };
    await post(`${base}/openai/v1/chat/completions`, {
      model: 'org/remote',
      messages,
      response_format: format,
    });
    await run(base, { messages, params: { json_object: true } });
    expect(asked.map(({ body }) => body['response_format'])).toEqual([
      { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } },
      { type: 'json_object' },
    ]);
  });

  test('probabilities, and several answers', async () => {
    const row = { token: 'a', logprob: -0.5, bytes: [97] };
    const logprobs = { content: [{ ...row, top_logprobs: [{ token: 'é', logprob: -2, bytes: null }] }] };
    const choice = (index: number) => ({
      ...{ index, message: { content: 'a' }, finish_reason: index === 0 ? 'length' : 'stop', logprobs },
    });
    const { url, asked } = await provider(sends({ choices: [choice(0), choice(1)] }));
    const base = await remoteGateway({ url });
    const { headers, text } = await run(base, {
      messages,
      params: { logprobs: 1, num_return_sequences: 2, do_sample: true, seed: 3 },
    });
    const told = { content: [{ ...row, top_logprobs: [{ token: 'é', logprob: -2, bytes: [195, 169] }] }] };
    const one = { role: 'assistant', content: 'a', logprobs: told };
    expect(JSON.parse(text)).toEqual({ error: null, output: [one, one] });
    expect(asked[0]!.body).toMatchObject({ n: 2, logprobs: true, top_logprobs: 1, seed: 3 });
    // The provider did not tell them, so nobody does.
    expect(headers.get('inference-tokens-in')).toBeNull();
  });

  test('calls that a server gives whole, all under one index', async () => {
    const call = (id: string) => ({ index: 0, id, function: { name: 'time', arguments: '{}' } });
    const all = [chunk({ tool_calls: [call('a'), call('b')] }), chunk({}, 'tool_calls'), DONE];
    const { url } = await provider(streams(all));
    const base = await remoteGateway({ url });
    const { text } = await run(base, { messages, stream: true }, { accept: 'text/event-stream' });
    const { output } = events(text).at(-1)!.data as { output: { tool_calls: object[] } };
    expect(output.tool_calls).toMatchObject([
      { id: 'a', function: { name: 'time', arguments: '{}' } },
      { id: 'b', function: { name: 'time', arguments: '{}' } },
    ]);
  });

  test('what an extended server knows, where the catalogue says so', async () => {
    const { url, asked } = await provider(openAiAnswer({ content: 'b' }));
    const allowed = ['top_k', 'choices', 'enable_thinking', 'continue_final_message', 'max_new_tokens'];
    const base = await remoteGateway({ url, parameters: allowed, lengthParameter: 'max_completion_tokens' });
    const { text } = await run(base, {
      messages: [...messages, { role: 'assistant', content: 'a' }],
      params: { top_k: 5, choices: ['a', 'b'], enable_thinking: false, max_new_tokens: 7, num_beams: 1 },
    });
    expect(JSON.parse(text).output).toEqual({ role: 'assistant', content: 'ab' });
    expect(asked[0]!.body).toMatchObject({
      ...{ top_k: 5, structured_outputs: { choice: ['a', 'b'] }, max_completion_tokens: 7 },
      ...{ chat_template_kwargs: { enable_thinking: false } },
      ...{ continue_final_message: true, add_generation_prompt: false },
    });
    expect(asked[0]!.body).not.toHaveProperty('num_beams');
  });
});

describe('other interfaces over OpenAI’s chat', () => {
  const body = { model: 'org/remote', max_tokens: 9, messages };

  test('Anthropic’s messages: the tokens of the prompt come at the end', async () => {
    const { url, asked } = await provider(openAiAnswer({ reasoning: 'hm', calls: MADE }));
    const root = rootOf(await remoteGateway({ url }));
    expect(await json(post(`${root}/v1/messages`, body))).toMatchObject({
      stop_reason: 'tool_use',
      content: [{ thinking: 'hm' }, { text: 'Let me look.' }, { name: 'weather', input: { city: 'Wien' } }],
      usage: { input_tokens: 11, output_tokens: 5 },
    });
    const all = events((await post(`${root}/v1/messages`, { ...body, stream: true })).text);
    expect(all.at(-2)!.data).toMatchObject({ usage: { input_tokens: 11, output_tokens: 5 } });
    expect(asked).toHaveLength(2);
    const counted = await post(`${root}/v1/messages/count_tokens`, body);
    expect([counted.status, counted.text]).toEqual([400, expect.stringContaining('count_tokens: can')]);
  });

  test('Ollama’s chat, in lines', async () => {
    const { url } = await provider(openAiAnswer({ calls: MADE }));
    const root = rootOf(await remoteGateway({ url }));
    const { text } = await post(`${root}/api/chat`, { model: 'org/remote', messages, tools: [] });
    const lines = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ message }) => message?.content ?? '').join('')).toBe('Let me look.');
    expect(lines.at(-1)).toMatchObject({ done: true, prompt_eval_count: 11, eval_count: 5 });
    expect(text).toContain('"arguments":{"city":"Wien"}');
  });

  test('OpenAI’s responses, and Hugging Face’s chat', async () => {
    const { url } = await provider(openAiAnswer());
    const base = await remoteGateway({ url });
    const responses = await json(post(`${base}/org/remote/v1/responses`, { input: 'x' }));
    expect(JSON.stringify(responses)).toContain('Let me look.');
    expect(responses['usage']).toMatchObject({ input_tokens: 11, output_tokens: 5 });
    const chat = await json(post(`${base}/org/remote/v1/chat/completions`, { messages }));
    expect(chat['choices']).toMatchObject([{ message: { content: 'Let me look.' } }]);
  });
});

describe('OpenAI’s completions', () => {
  const text = {
    choices: [{ text: ' b c', finish_reason: 'length' }],
    usage: { prompt_tokens: 1, completion_tokens: 2 },
  };

  test('with and without the prompt, from each route', async () => {
    const { url, asked } = await provider(sends(text));
    const base = await remoteGateway({ url }, { task: 'text-generation' });
    const outputs = [];
    for (const params of [{ prefix: '> ' }, { return_full_text: false }])
      outputs.push(JSON.parse((await run(base, { text: 'a', params })).text).output);
    expect(outputs).toEqual(['a b c', ' b c']);
    const answered = await json(
      post(`${base}/openai/v1/completions`, { model: 'org/remote', prompt: ['a', 'd'], stop: 'z' }),
    );
    expect(answered).toMatchObject({
      choices: [{ text: ' b c', finish_reason: 'length' }, {}],
      usage: { total_tokens: 6 },
    });
    expect(asked.map(({ path, body }) => [path, body['prompt']])).toEqual(
      ['> a', 'a', 'a', 'd'].map((prompt) => ['/completions', prompt]),
    );
    expect(asked[2]!.body).toMatchObject({ stop: ['z'] });
  });

  test('streamed', async () => {
    const piece = (text: string, finish_reason: string | null = null) =>
      `data: ${JSON.stringify({ choices: [{ text, finish_reason }] })}\n\n`;
    const { url } = await provider(streams([piece(' b'), piece(' c'), piece('', 'stop'), DONE]));
    const base = await remoteGateway({ url }, { task: 'text-generation' });
    expect((await run(base, { text: 'a', stream: true })).text).toBe(' b c');
  });
});

describe('OpenAI’s embeddings', () => {
  const vectors = sends({ data: [{ embedding: [3, 4, 0] }], usage: { prompt_tokens: 2, total_tokens: 2 } });

  test('from each route; vectors are cut and scaled where that is asked for', async () => {
    const { url, asked } = await provider(vectors);
    const base = await remoteGateway({ url }, { task: 'feature-extraction' });
    const { headers, text } = await run(base, { text: 'x', params: { normalize: true, truncate_dim: 2 } });
    expect([JSON.parse(text).output, headers.get('inference-tokens-in')]).toEqual([[0.6, 0.8], '2']);
    const listed = await json(
      post(`${base}/openai/v1/embeddings`, { model: 'org/remote', input: ['x', 'y'], dimensions: 3 }),
    );
    expect(listed).toMatchObject({ data: [{ embedding: [3, 4, 0] }, {}], usage: { prompt_tokens: 4 } });
    const tei = await json(post(`${base}/org/remote/embed`, { inputs: 'x' }));
    expect(tei).toEqual([[0.6, 0.8, 0]]);
    expect(asked[0]).toMatchObject({ path: '/embeddings', body: { model: 'gpt-x', input: 'x' } });
    expect(asked[1]!.body).toMatchObject({ dimensions: 3, encoding_format: 'float' });
  });
});
