import { closeServers, secret } from '../fakes/gateway.js';
import { MOUNTS } from '../fakes/dialects.js';
import { json, messages, model, post, says, seen, tools } from '../fakes/talking-model.js';

afterEach(closeServers);
beforeEach(() => seen.splice(0));

describe.each(MOUNTS)('Ollama, %s', (mount) => {
  const lines = (text: string) =>
    text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);

  test('a chat streams lines by default; calls come whole', async () => {
    const body = { model: 'test/model:latest', messages, tools };
    const { text, type } = await post(`${await model(mount)}/api/chat`, body);
    const all = lines(text);
    expect(type).toBe('application/x-ndjson');
    expect(all.map(({ message }) => message)).toEqual([
      { role: 'assistant', content: '', thinking: 'hm ' },
      { role: 'assistant', content: '', thinking: 'yes' },
      { role: 'assistant', content: 'Let me ' },
      { role: 'assistant', content: 'look.' },
      {
        ...{ role: 'assistant', content: '' },
        tool_calls: [
          { function: { name: 'weather', arguments: { city: 'Wien' } } },
          { function: { name: 'time', arguments: {} } },
        ],
      },
      { role: 'assistant', content: '' },
    ]);
    expect(all.at(-1)).toMatchObject({
      done: true,
      done_reason: 'stop',
      prompt_eval_count: 7,
      eval_count: 5,
    });
    expect(all.every(({ model: name }) => name === 'test/model:latest')).toBe(true);
  });

  test('options, formats, and what changes nothing', async () => {
    const body = {
      ...{ model: 'test/model', messages, stream: false, tools: [], keep_alive: '5m', think: true },
      options: { temperature: 0.5, num_predict: 3, num_ctx: 8192, stop: ['x'], repeat_penalty: 1.1 },
    };
    const answer = await json(post(`${await says(mount, 'a')}/api/chat`, body));
    expect(answer).toMatchObject({ message: { role: 'assistant', content: 'a' }, done: true });
    expect(seen[0]!['params']).toMatchObject({
      ...{ do_sample: true, temperature: 0.5, max_new_tokens: 3, stop: ['x'], repetition_penalty: 1.1 },
      enable_thinking: true,
    });
  });

  test('a prompt', async () => {
    const base = await says(mount, 'a');
    const answer = await json(
      post(`${base}/api/generate`, { model: 'test/model', prompt: 'x', stream: false }),
    );
    expect(answer).toMatchObject({ response: 'a', done: true });
    expect(seen[0]!['messages']).toEqual([{ role: 'user', content: 'x' }]);
    const load = await json(post(`${base}/api/generate`, { model: 'test/model' }));
    expect(load).toMatchObject({ done_reason: 'load' });
  });

  test('models, version, and what is refused', async () => {
    const base = await says(mount, 'a');
    const get = async (path: string) =>
      (await (await fetch(`${base}${path}`, { headers: { authorization: secret } })).json()) as object;
    expect(await get('/api/tags')).toMatchObject({ models: [{ name: 'test/model:latest' }] });
    expect(await get('/api/version')).toMatchObject({ version: expect.stringMatching(/^\d+\.\d+\.\d+$/) });
    const show = await json(post(`${base}/api/show`, { model: 'test/model' }));
    expect(show).toMatchObject({
      capabilities: expect.arrayContaining(['tools']),
      model_info: expect.any(Object),
    });
    expect(await json(post(`${base}/api/pull`, { model: 'test/model' }))).toEqual({ status: 'success' });
    expect((await post(`${base}/api/push`, { model: 'test/model' })).status).toBe(400);
    const mirostat = { model: 'test/model', messages, options: { mirostat: 2 } };
    expect((await post(`${base}/api/chat`, mirostat)).status).toBe(400);
  });
});
