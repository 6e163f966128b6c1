import OpenAI from 'openai';
import { closeServers, secret } from '../fakes/gateway.js';
import { MOUNTS } from '../fakes/dialects.js';
import { model, parameters, post, seen } from '../fakes/talking-model.js';

afterEach(closeServers);
beforeEach(() => seen.splice(0));

describe.each(MOUNTS)('OpenAI’s responses, %s', (mount) => {
  const client = async () =>
    new OpenAI({ apiKey: secret, baseURL: `${await model(mount)}/v1`, maxRetries: 0 }).responses;
  const flat = [{ type: 'function' as const, name: 'weather', parameters, strict: false }];

  test('whole', async () => {
    const answer = await (await client()).create({ model: 'test/model', input: 'hi', tools: flat });
    expect(answer).toMatchObject({
      ...{ object: 'response', status: 'completed', output_text: 'Let me look.' },
      output: [
        { type: 'reasoning' },
        { type: 'message' },
        { type: 'function_call', call_id: 'call_a', name: 'weather', arguments: '{"city": "Wien"}' },
        { type: 'function_call', call_id: 'call_b' },
      ],
      usage: { input_tokens: 7, output_tokens: 5, output_tokens_details: { reasoning_tokens: 2 } },
    });
  });

  test('as the client’s own helper accumulates its events', async () => {
    const stream = (await client()).stream({ model: 'test/model', input: 'hi', tools: flat });
    const numbers: number[] = [];
    for await (const event of stream) numbers.push(event.sequence_number);
    expect(numbers).toEqual(numbers.map((_, i) => i));
    const answer = await stream.finalResponse();
    expect(answer.output.map(({ type }) => type)).toEqual([
      ...['reasoning', 'message', 'function_call', 'function_call'],
    ]);
    expect(answer.output_text).toBe('Let me look.');
    expect(answer.output[2]).toMatchObject({ arguments: '{"city": "Wien"}' });
  });

  test('items of a history become messages', async () => {
    await (
      await client()
    ).create({
      model: 'test/model',
      instructions: 'Be kind.',
      tools: flat,
      input: [
        { role: 'user', content: [{ type: 'input_text', text: 'hi' }] },
        { type: 'function_call', call_id: 'call_a', name: 'weather', arguments: '{}' },
        { type: 'function_call', call_id: 'call_b', name: 'weather', arguments: '{}' },
        { type: 'function_call_output', call_id: 'call_a', output: 'rain' },
        { type: 'function_call_output', call_id: 'call_b', output: 'sun' },
      ],
    });
    expect(seen[0]!['messages']).toEqual([
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'hi' },
      {
        ...{ role: 'assistant', content: '' },
        tool_calls: ['call_a', 'call_b'].map((id) => ({
          ...{ id, type: 'function', function: { name: 'weather', arguments: '{}' } },
        })),
      },
      { role: 'tool', tool_call_id: 'call_a', content: 'rain', name: 'weather' },
      { role: 'tool', tool_call_id: 'call_b', content: 'sun', name: 'weather' },
    ]);
  });

  test.each([{ previous_response_id: 'resp_1' }, { background: true }, { tools: [{ type: 'web_search' }] }])(
    '%j is refused',
    async (fields) => {
      const body = { model: 'test/model', input: 'hi', ...fields };
      expect((await post(`${await model(mount)}/v1/responses`, body)).status).toBe(400);
    },
  );
});
