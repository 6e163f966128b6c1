import { RunError } from '../../runtime/core/errors.js';
import type { ModelService } from '../../runtime/http/service.js';
import { closeServers, secret } from '../fakes/gateway.js';
import { mounted, MOUNTS } from '../fakes/dialects.js';
import {
  events,
  json,
  messages,
  model,
  parameters,
  post,
  says,
  seen,
  tools,
} from '../fakes/talking-model.js';

afterEach(closeServers);
beforeEach(() => seen.splice(0));

describe.each(MOUNTS)('Anthropic’s messages, %s', (mount) => {
  const claude = {
    ...{ model: 'test/model', max_tokens: 9, messages },
    tools: [{ name: 'weather', input_schema: parameters }],
  };
  const headers = { authorization: '', 'x-api-key': secret, 'anthropic-version': '2023-06-01' };
  const { authorization: _, ...keyed } = headers;

  test('whole', async () => {
    const answer = await json(post(`${await model(mount)}/v1/messages?beta=true`, claude, keyed));
    expect(answer).toMatchObject({
      ...{ type: 'message', role: 'assistant', model: 'test/model', stop_reason: 'tool_use' },
      content: [
        { type: 'thinking', thinking: 'hm yes' },
        { type: 'text', text: 'Let me look.' },
        { type: 'tool_use', id: 'call_a', name: 'weather', input: { city: 'Wien' } },
        { type: 'tool_use', id: 'call_b', name: 'time', input: {} },
      ],
      usage: { input_tokens: 7, output_tokens: 5 },
    });
    expect(seen[0]!['params']).toMatchObject({ max_new_tokens: 9, tools, parse_response: true });
  });

  test('a stream, whose first event has the tokens of the prompt', async () => {
    const answered = await post(`${await model(mount)}/v1/messages`, { ...claude, stream: true });
    const all = events(answered.text);
    expect(all.every(({ name, data }) => name === data['type'])).toBe(true);
    expect(all[0]!.data).toMatchObject({ message: { usage: { input_tokens: 7 }, content: [] } });
    expect(all.map(({ name, data }) => [name, data['index']])).toEqual([
      ['message_start', undefined],
      ...[0, 1, 2].flatMap((index) => [
        ['content_block_start', index],
        ...[1, 2].map(() => ['content_block_delta', index]),
        ['content_block_stop', index],
      ]),
      ['content_block_start', 3],
      ['content_block_delta', 3],
      ['content_block_stop', 3],
      ['message_delta', undefined],
      ['message_stop', undefined],
    ]);
    const delta = { delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 5 } };
    expect(all.at(-2)!.data).toMatchObject(delta);
  });

  test('the stop sequence that ended it is told, whole and streamed', async () => {
    const run: ModelService['run'] = async (_input, { onDelta, onUsage }) => {
      onDelta?.({ text: 'one' });
      onUsage?.({ tokensIn: 1, tokensOut: 2, finish: ['stop'], stops: [1] });
      return { role: 'assistant', content: 'one' };
    };
    const base = await mounted(mount, { task: 'chat', run });
    const body = { ...claude, tools: undefined, stop_sequences: ['', 'END', '\n\nHuman'] };
    const end = { stop_reason: 'stop_sequence', stop_sequence: '\n\nHuman' };
    expect(await json(post(`${base}/v1/messages`, body, keyed))).toMatchObject(end);
    const { text } = await post(`${base}/v1/messages`, { ...body, stream: true }, keyed);
    expect(events(text).at(-2)!.data).toMatchObject({ delta: end });
  });

  test('results of tools, what the system says, and an answer that is begun', async () => {
    const begun = [
      ...messages,
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Wien' } }],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: 'rain' }] },
          { type: 'text', text: 'Well?' },
        ],
      },
      { role: 'assistant', content: 'It ' },
    ];
    const base = await model(mount, [{ text: 'rains' }], { role: 'assistant', content: 'It rains' });
    const body = { ...claude, messages: begun, system: [{ type: 'text', text: 'Be short.' }] };
    expect((await json(post(`${base}/v1/messages`, body)))['content']).toEqual([
      { type: 'text', text: 'rains' },
    ]);
    const { messages: sent, params } = seen[0] as { messages: object[]; params: object };
    expect(sent).toEqual([
      { role: 'system', content: 'Be short.' },
      ...messages,
      {
        ...{ role: 'assistant', content: '' },
        tool_calls: [
          { id: 'toolu_1', type: 'function', function: { name: 'weather', arguments: { city: 'Wien' } } },
        ],
      },
      { role: 'tool', tool_call_id: 'toolu_1', content: 'rain', name: 'weather' },
      { role: 'user', content: 'Well?' },
      { role: 'assistant', content: 'It ' },
    ]);
    expect(params).toMatchObject({ continue_final_message: true });
  });

  test('tokens are counted without running the model', async () => {
    const answer = await json(post(`${await model(mount)}/v1/messages/count_tokens`, claude));
    expect(answer).toEqual({ input_tokens: 7 });
    expect(seen[0]!['params']).toMatchObject({ count_only: true });
  });

  test('unknown fields are named; errors have its shape', async () => {
    const base = await says(mount, 'a');
    const { tools: __, ...plain } = claude;
    const answered = await post(`${base}/v1/messages`, { ...plain, metadata: {}, context_management: {} });
    expect([answered.status, answered.ignored]).toEqual([200, 'metadata, context_management']);
    const refused = await post(`${base}/v1/messages`, { ...plain, max_tokens: 0 });
    expect([refused.status, JSON.parse(refused.text)]).toMatchObject([
      400,
      {
        type: 'error',
        error: { type: 'invalid_request_error', message: expect.stringMatching(/^max_tokens/) },
      },
    ]);
  });

  test('too much to do is a 529', async () => {
    const run: ModelService['run'] = async () => {
      throw new RunError('overloaded', 'full', { retryAfter: 2 });
    };
    const base = await mounted(mount, { task: 'chat', run });
    const { tools: __, ...plain } = claude;
    const answered = await post(`${base}/v1/messages`, plain);
    expect([answered.status, JSON.parse(answered.text)]).toMatchObject([
      529,
      { error: { type: 'overloaded_error' } },
    ]);
  });
});
