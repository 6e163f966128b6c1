import { IMAGE } from '../../runtime/tasks/example.js';
import { closeServers } from '../fakes/gateway.js';
import { anthropicAnswer, history, provider, PROVIDER_KEY, remoteGateway, run } from '../fakes/provider.js';
import { events, messages, parameters, post, tools } from '../fakes/talking-model.js';

/** Models behind Anthropic’s interface. */

afterEach(closeServers);

const schema = { type: 'object', properties: { n: { type: 'integer' } } };

describe('Anthropic’s messages', () => {
  const anthropic = async (stop?: object) => {
    const fake = await provider(anthropicAnswer(stop));
    return { ...fake, base: await remoteGateway({ kind: 'anthropic', url: fake.url, model: 'claude-x' }) };
  };
  const calls = [
    { id: 'toolu_1', type: 'function', function: { name: 'weather', arguments: '{"city": "Wien"}' } },
    { id: 'toolu_2', type: 'function', function: { name: 'time', arguments: '{}' } },
  ];

  test('whole: arguments as the model wrote them, tokens with those that were cached', async () => {
    const { base, asked } = await anthropic();
    const { headers, text } = await run(base, {
      messages: history,
      params: { tools, max_new_tokens: 2000, enable_thinking: true },
    });
    expect(JSON.parse(text).output).toEqual({
      ...{ role: 'assistant', content: 'Let me look.', reasoning_content: 'hm', tool_calls: calls },
    });
    expect(headers.get('inference-tokens-in')).toBe('17');
    expect(asked[0]).toMatchObject({
      path: '/v1/messages',
      headers: { 'x-api-key': PROVIDER_KEY, 'anthropic-version': '2023-06-01' },
      body: {
        ...{ model: 'claude-x', max_tokens: 2000, system: 'Be short.' },
        thinking: { type: 'enabled', budget_tokens: 1000 + 24 },
        tools: [{ name: 'weather', input_schema: parameters }],
        messages: [
          { role: 'user', content: [{ type: 'text', text: messages[0]!.content }] },
          {
            role: 'assistant',
            content: [{ type: 'tool_use', id: 'call_0', name: 'weather', input: { city: 'Wien' } }],
          },
          {
            role: 'user',
            content: [
              { type: 'tool_result', tool_use_id: 'call_0', content: [{ type: 'text', text: 'rain' }] },
              { type: 'text', text: 'Well?' },
            ],
          },
        ],
      },
    });
    expect(asked[0]!.headers).not.toHaveProperty('authorization');
  });

  test('through its own interface: counted before, the stop sequence told after', async () => {
    const { base, asked } = await anthropic({ stop_reason: 'stop_sequence', stop_sequence: 'END' });
    const claude = { model: 'org/remote', max_tokens: 9, messages, stop_sequences: ['x', 'END'] };
    const answered = await post(`${base.slice(0, -'/models/v2'.length)}/v1/messages`, {
      ...claude,
      stream: true,
    });
    const all = events(answered.text);
    expect(all[0]!.data).toMatchObject({ message: { usage: { input_tokens: 17 } } });
    expect(all.at(-2)!.data).toMatchObject({
      delta: { stop_reason: 'stop_sequence', stop_sequence: 'END' },
      usage: { input_tokens: 17, output_tokens: 5 },
    });
    const streamed = asked.find(({ path }) => path === '/v1/messages')!;
    expect(streamed.body).toMatchObject({ stop_sequences: ['x', 'END'], max_tokens: 9, stream: true });
  });

  test('formats, choices of tools, images, an answer that is begun', async () => {
    const { base: chat, asked } = await anthropic();
    await run(chat, {
      messages: [...messages, { role: 'assistant', content: 'It ' }],
      params: {
        tools,
        tool_choice: 'required',
        parallel_tool_calls: false,
        json_schema: schema,
        temperature: 0.5,
      },
    });
    expect(asked[0]!.body).toMatchObject({
      ...{ max_tokens: 256, temperature: 0.5, tool_choice: { type: 'any', disable_parallel_tool_use: true } },
      output_config: { format: { type: 'json_schema', schema } },
      messages: [{}, { role: 'assistant', content: [{ type: 'text', text: 'It ' }] }],
    });
    const fake = await provider(anthropicAnswer());
    const base = await remoteGateway({ kind: 'anthropic', url: fake.url }, { task: 'image-text-to-text' });
    const content = [
      { type: 'image', base64: IMAGE },
      { type: 'image', url: 'https://x.test/a.png' },
    ];
    await run(base, { messages: [{ role: 'user', content }] });
    expect(fake.asked[0]!.body['messages']).toEqual([
      {
        role: 'user',
        content: [
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: IMAGE } },
          { type: 'image', source: { type: 'url', url: 'https://x.test/a.png' } },
        ],
      },
    ]);
  });
});
